/** An agent: an MCP client that talks to a real `hashline mcp`, a process of its own, over its stdio. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { until, within } from "./patience.ts";

const PATIENCE_MS = 60_000; // an agent may wait for a review

/** op, words of the one line that it is about, content */
export type Operation = readonly [op: string, words: string, content?: string];
type Arguments = Record<string, unknown>;

interface ToolResult {
  readonly content: readonly { readonly text: string }[];
  readonly isError?: boolean;
}

/** What a tool said. */
export class Answer {
  readonly text: string;
  readonly refused: boolean;

  constructor(result: ToolResult) {
    this.text = result.content[0]?.text ?? "";
    this.refused = result.isError === true;
  }

  private named(pattern: RegExp, what: string): string {
    const found = pattern.exec(this.text)?.[1];
    if (found === undefined) throw new Error(`no ${what} in:\n${this.text}`);
    return found;
  }

  get hash(): string {
    return this.named(/file_hash ([0-9a-f]+)/, "file hash");
  }

  /** The id of the edit, as far as agents are shown it. */
  get edit(): string {
    return this.named(/· edit ([0-9a-f]+)/, "edit");
  }

  private get tagged(): { anchor: string; content: string }[] {
    return [...this.text.matchAll(/^(\d+:[0-9a-f]{2})\|(.*)$/gm)].map(([, anchor, content]) => ({
      anchor: anchor ?? "",
      content: content ?? "",
    }));
  }

  /** The lines that the answer shows, without their tags. */
  get lines(): string[] {
    return this.tagged.map((line) => line.content);
  }

  /** The anchor of the only line that holds these words. */
  anchor(words: string): string {
    const found = this.tagged.filter((line) => line.content.includes(words));
    if (found.length !== 1) throw new Error(`"${words}" stands ${found.length} times in:\n${this.text}`);
    return found[0]!.anchor;
  }
}

export interface Whereabouts {
  readonly binary: string;
  readonly root: string;
  readonly state: string;
}

export class Agent {
  private readonly process: ChildProcessWithoutNullStreams;
  private readonly waiting = new Map<
    number,
    { answered: (result: unknown) => void; failed: (error: Error) => void }
  >();
  private readonly gone: Promise<void>;
  private complaints = "";
  private asked = 0;

  private constructor({ binary, root, state }: Whereabouts) {
    this.process = spawn(binary, ["mcp", "--root", root, "--state-dir", state], { cwd: root });
    this.process.stderr.on("data", (words) => (this.complaints += words));
    createInterface({ input: this.process.stdout }).on("line", (line) => this.take(JSON.parse(line)));
    this.gone = new Promise((gone) =>
      this.process.on("close", () => {
        for (const { failed } of this.waiting.values())
          failed(new Error(`the agent's process has ended\n${this.complaints}`));
        gone();
      }),
    );
  }

  /** Starts the router as an agent's program would, and says hello. */
  static async start(where: Whereabouts, name = "claude-code"): Promise<Agent> {
    const agent = new Agent(where);
    await agent.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name, version: "1" },
    });
    agent.send({ method: "notifications/initialized" });
    return agent;
  }

  async stop(): Promise<void> {
    this.process.stdin.end();
    await within(3000, "the end of an agent", this.gone).catch(() => this.process.kill("SIGKILL"));
  }

  private take(message: { id?: number; method?: string; result?: unknown; error?: unknown }): void {
    if (message.id === undefined || message.method !== undefined) return;
    const { answered, failed } = this.waiting.get(message.id) ?? {};
    this.waiting.delete(message.id);
    if (message.error) failed?.(new Error(JSON.stringify(message.error)));
    else answered?.(message.result);
  }

  private send(message: object): void {
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  private ask(method: string, params: object): Promise<unknown> {
    const id = ++this.asked;
    const answer = new Promise((answered, failed) => this.waiting.set(id, { answered, failed }));
    this.send({ id, method, params });
    return within(PATIENCE_MS, `${method} ${JSON.stringify(params)}`, answer);
  }

  /** Calls a tool, which may refuse. */
  async try(tool: string, args: Arguments = {}): Promise<Answer> {
    return new Answer((await this.ask("tools/call", { name: tool, arguments: args })) as ToolResult);
  }

  /** Calls a tool, which must not refuse. */
  async call(tool: string, args: Arguments = {}): Promise<Answer> {
    const answer = await this.try(tool, args);
    if (answer.refused) throw new Error(`${tool} is refused: ${answer.text}`);
    return answer;
  }

  read(path: string, more: Arguments = {}): Promise<Answer> {
    return this.call("read_text_file", { path, ...more });
  }

  /** Edits by what was read. */
  edit(path: string, read: Answer, operations: readonly Operation[], more: Arguments = {}): Promise<Answer> {
    return this.call("edit_text_file", {
      path,
      file_hash: read.hash,
      operations: operations.map(([op, words, content]) => ({ op, anchor: read.anchor(words), content })),
      ...more,
    });
  }

  /** Waits until the agent hears these words of its edit: it hears of one decision after the other. */
  async hears(edit: string, ...words: readonly string[]): Promise<void> {
    let said = "";
    await until(
      async () => {
        said = (await this.call("await_review", { edit_ids: [edit], timeout_s: 1 })).text;
        return words.every((word) => said.includes(word));
      },
      () => `it hears "${words.join('", "')}":\n${said}`,
    );
  }
}
