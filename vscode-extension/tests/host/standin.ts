/** The program that stands in for the sidecar, as a test in the extension host speaks with it: see ../standin.ts. */
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type * as vscode from "vscode";
import { until, within } from "../patience.ts";
import type { Entry, Question } from "../standin.ts";
import type { Scene } from "./scene.ts";

/** From a place to a place, both 0-based, and what is put there. */
export type Edit = readonly [
  line: number,
  character: number,
  end: number,
  endCharacter: number,
  text: string,
];

interface Change {
  readonly range: Record<"start" | "end", { readonly line: number; readonly character: number }>;
  readonly text: string;
}

interface Said {
  readonly textDocument?: { readonly uri: string; readonly version: number };
  readonly contentChanges?: readonly Change[];
  readonly uri?: string;
  readonly version?: number;
  readonly cause?: string;
  readonly delivery?: number | null;
}

interface Answer {
  readonly applied: boolean;
}

const PATIENCE_MS = 30_000;

/** What was asked so far, in all tests: of all of them it is written down what was answered. */
let asked = 0;

export class Standin implements vscode.Disposable {
  private readonly socket: Socket;
  private readonly entries: Entry[] = [];
  /** Deliveries, by the numbers under which they were asked for. */
  private readonly delivered = new Map<number, { readonly uri: string; readonly delivery: number }>();

  private constructor(socket: Socket) {
    this.socket = socket;
    createInterface({ input: socket }).on("line", (line) => this.entries.push(JSON.parse(line) as Entry));
  }

  /** Meets the one that the extension has started. */
  static async met({ extension }: Scene): Promise<Standin> {
    await until(
      () => extension.state().kind === "running",
      () => `it runs: ${JSON.stringify(extension.state())}`,
    );
    const socket = connect(process.env.HASHLINE_STANDIN!);
    const met = new Promise((yes, no) => socket.once("connect", yes).once("error", no));
    await within(PATIENCE_MS, "the meeting with the stand-in", met);
    return new Standin(socket);
  }

  dispose(): void {
    this.socket.destroy();
  }

  /** Asks the extension, and gives its answer back. */
  async ask(method: string, params: unknown): Promise<unknown> {
    const question: Question = { asked: ++asked, method, params };
    this.socket.write(`${JSON.stringify(question)}\n`);
    const answer = await until(
      () => this.entries.find((entry) => entry.asked === question.asked),
      () => `an answer to ${JSON.stringify(question)}`,
    );
    if (answer.error) throw new Error(JSON.stringify(answer.error));
    return answer.result;
  }

  /** Waits until the extension has taken all that it was asked before, and all that it said before was heard. */
  async hasTakenAll(): Promise<void> {
    await this.ask("workspace/configuration", { items: [] });
  }

  /** Has these edits delivered, which are for a version of a document: whether they were made. */
  async delivers(
    document: vscode.TextDocument,
    delivery: number,
    edits: readonly Edit[],
    { version = document.version } = {},
  ): Promise<boolean> {
    const change = {
      textDocument: { uri: document.uri.toString(), version },
      edits: edits.map(([line, character, endLine, endCharacter, newText]) => ({
        range: { start: { line, character }, end: { line: endLine, character: endCharacter } },
        newText,
      })),
    };
    this.delivered.set(asked + 1, { uri: document.uri.toString(), delivery });
    const edit = { label: "Edits of claude-code", delivery, edit: { documentChanges: [change] } };
    return ((await this.ask("workspace/applyEdit", edit)) as Answer).applied;
  }

  /**
   * What was said about a document, and about the deliveries of it, in this order, up to now:
   *
   *     open 1
   *     cause 2 delivery 7
   *     change 2 [0.0-1.0 "first\n"]
   *     made 7
   */
  async heard(document: vscode.TextDocument): Promise<readonly string[]> {
    await this.hasTakenAll();
    const uri = document.uri.toString();
    return this.entries.flatMap(({ method, params, result, ...entry }) => {
      const said = (params ?? {}) as Said;
      if (method !== undefined) {
        const tell = TELLING[method];
        return tell && (said.textDocument?.uri ?? said.uri) === uri ? [tell(said)] : [];
      }
      const answered = this.delivered.get(entry.asked ?? 0);
      if (answered?.uri !== uri) return [];
      return [`${(result as Answer).applied ? "made" : "refused"} ${answered.delivery}`];
    });
  }
}

/** How what the extension tells is written here. */
const TELLING: Readonly<Record<string, (said: Said) => string>> = {
  "textDocument/didOpen": ({ textDocument }) => `open ${textDocument?.version}`,
  "textDocument/didChange": ({ textDocument, contentChanges }) =>
    `change ${textDocument?.version} [${contentChanges?.map(toldChange).join(", ")}]`,
  "textDocument/didSave": () => "save",
  "textDocument/didClose": () => "close",
  "hashline/cause": ({ version, cause, delivery }) =>
    `cause ${version} ${cause}${delivery === null ? "" : ` ${delivery}`}`,
};

function toldChange({ range: { start, end }, text }: Change): string {
  return `${start.line}.${start.character}-${end.line}.${end.character} ${JSON.stringify(text)}`;
}
