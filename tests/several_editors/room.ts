/** What a test has to itself: files of its own in the project, Neovims, and agents. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, type Answer } from "../../vscode-extension/tests/agent.ts";
import type { Desk } from "../../vscode-extension/tests/hand/desk.ts";
import { until } from "../../vscode-extension/tests/patience.ts";
import type { Stage } from "../../vscode-extension/tests/report.ts";
import { type Announced, type House, PICTURES } from "./house.ts";
import { Neovim } from "./neovim.ts";
import { CART } from "./shop.ts";

/** What the editors' names begin with, as their sidecars tell them to others. */
export const NEOVIM = "Neovim";
export const VSCODE = "code-server";
export type Editor = typeof NEOVIM | typeof VSCODE;

export class Room implements Stage {
  private readonly house: House;
  private readonly neovims: Neovim[] = [];
  private readonly agents: Agent[] = [];

  constructor(house: House) {
    this.house = house;
  }

  async failed(claim: string): Promise<string> {
    const name = `failed_${claim.replace(/[^a-z0-9]+/gi, "_").slice(0, 40)}`;
    await this.house.opened?.picture(name);
    const neovim = this.neovims.at(-1);
    neovim?.picture(PICTURES, name);
    const sidecars = `sidecars: ${JSON.stringify(this.house.sidecars)}`;
    return [await this.house.opened?.seen(), neovim?.screen, sidecars].filter(Boolean).join("\n");
  }

  async close(): Promise<void> {
    for (const neovim of this.neovims) neovim.close();
    await Promise.all(this.agents.map((agent) => agent.stop()));
    await this.house.opened?.closeAll();
  }

  // ---- files --------------------------------------------------------------------------------------------------

  get folder(): string {
    return this.house.folder;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file of the project. */
  file(name: string, text = CART): string {
    writeFileSync(this.path(name), text);
    return name;
  }

  exists(name: string): boolean {
    return existsSync(this.path(name));
  }

  onDisk(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  async untilOnDisk(name: string, text: string): Promise<void> {
    await until(
      () => this.exists(name) && this.onDisk(name) === text,
      () =>
        `${name} on the disk is\n${text}\nand not\n${this.exists(name) ? this.onDisk(name) : "(no file)"}`,
    );
  }

  // ---- editors ------------------------------------------------------------------------------------------------

  /** The window of VS Code with this file in front. */
  desk(file: string): Promise<Desk> {
    return this.house.desk(file);
  }

  /** A new Neovim, with this file in front. */
  async neovim(file: string): Promise<Neovim> {
    const { nvim, sidecar, folder, home } = this.house;
    const neovim = await Neovim.start({ program: nvim, sidecar: sidecar.binary, folder, home });
    this.neovims.push(neovim);
    await neovim.edit(file);
    return neovim;
  }

  /** The only sidecar of such an editor, once there is one. */
  async sidecarOf(editor: Editor): Promise<Announced> {
    return until(
      () => {
        const [only, ...others] = this.house.sidecars.filter((sidecar) => sidecar.editor.startsWith(editor));
        return others.length === 0 ? only : undefined;
      },
      () => `one sidecar of ${editor}: ${JSON.stringify(this.house.sidecars)}`,
    );
  }

  // ---- agents -------------------------------------------------------------------------------------------------

  async agent(name = "claude-code"): Promise<Agent> {
    const { hashline, sidecar, folder } = this.house;
    const agent = await Agent.start({ binary: hashline, root: folder, state: sidecar.state }, name);
    this.agents.push(agent);
    return agent;
  }

  /** Waits until the agent's reads of a file come from this editor, with these words in them. */
  async readIn(editor: Editor, agent: Agent, file: string, words = ""): Promise<Answer> {
    let said = "";
    return until(
      async () => {
        const read = await agent.try("read_text_file", { path: file });
        said = read.text;
        const here = said.includes(`Open in ${editor} `) && said.includes(words);
        return here && !read.refused ? read : undefined;
      },
      () => `${file} is read in ${editor} with "${words}":\n${said}`,
    );
  }

  /** Waits until the agent's reads of a file come from the disk. */
  async readOnDisk(agent: Agent, file: string): Promise<Answer> {
    let said = "";
    return until(
      async () => {
        const read = await agent.try("read_text_file", { path: file });
        said = read.text;
        return read.refused || said.includes(" Open in ") ? undefined : read;
      },
      () => `${file} is read on the disk:\n${said}`,
    );
  }

  /** Waits until the agent's reads of a file are refused in these words. */
  async isRefused(agent: Agent, file: string, ...words: readonly string[]): Promise<void> {
    let said = "";
    await until(
      async () => {
        const read = await agent.try("read_text_file", { path: file });
        said = read.text;
        return read.refused && words.every((word) => said.includes(word));
      },
      () => `reading ${file} is refused with "${words.join('", "')}":\n${said}`,
    );
  }

  // ---- the history --------------------------------------------------------------------------------------------

  /** Decides in a terminal, or looks at what there is. */
  diff(...command: readonly string[]): string {
    return this.house.diff(...command);
  }

  /** Waits until the history has the edit with this status. */
  async isRecorded(edit: string, status: string): Promise<void> {
    await until(
      () => this.statusOf(edit) === status,
      () => `${edit} is ${status} and not ${this.statusOf(edit)}`,
    );
  }

  statusOf(edit: string): string | undefined {
    return this.house.recorded.find(({ edit_id }) => edit_id.startsWith(edit))?.status;
  }
}
