/** A chain of what an agent does to files and the person decides about it, in a folder of which the editor has some files open. */
import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as vscode from "vscode";
import type { Agent } from "../agent.ts";
import { until } from "../patience.ts";
import type { Scene } from "./scene.ts";

/** Bytes by name. */
export type Files = Readonly<Record<string, string>>;

interface Recorded {
  readonly edit_id: string;
  readonly conversation_id: string;
  readonly status: string;
}

const sorted = (files: Files) => JSON.stringify(Object.entries(files).sort());

export class Chain {
  readonly scene: Scene;
  private readonly agent: Agent;
  readonly conversation: string;

  private constructor(scene: Scene, agent: Agent) {
    this.scene = scene;
    this.agent = agent;
    this.conversation = `chain_${basename(scene.folder)}`;
  }

  /** A folder with these files, of which some are open. */
  static async start(scene: Scene, files: Files, open: readonly string[]): Promise<Chain> {
    for (const [name, bytes] of Object.entries(files)) scene.write(name, bytes);
    const chain = new Chain(scene, await scene.agent());
    await chain.open(...open);
    return chain;
  }

  async open(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const document = await vscode.workspace.openTextDocument(this.scene.path(name));
      await vscode.window.showTextDocument(document, { preview: false });
      await this.scene.reads(this.agent, document);
    }
  }

  // ---- the agent ----------------------------------------------------------------------------------------------

  makes(name: string, content: string): Promise<string> {
    return this.call("write_file", { path: this.scene.path(name), content });
  }

  removes(name: string): Promise<string> {
    return this.call("delete_file", { path: this.scene.path(name) });
  }

  moves(from: string, to: string): Promise<string> {
    return this.call("move_file", { source: this.scene.path(from), destination: this.scene.path(to) });
  }

  /** Puts a line in the place of the one that has these words. */
  async edits(name: string, words: string, line: string): Promise<string> {
    const path = this.scene.path(name);
    const more = { mcp_conversation_id: this.conversation };
    return (await this.agent.edit(path, await this.agent.read(path), [["replace", words, line]], more)).edit;
  }

  private async call(tool: string, about: Record<string, unknown>): Promise<string> {
    return (await this.agent.call(tool, { ...about, mcp_conversation_id: this.conversation })).edit;
  }

  // ---- the person ---------------------------------------------------------------------------------------------

  /** Waits until that is recorded: an agent that went on before would find the file as it was. */
  async accepts(edit: string): Promise<void> {
    await this.scene.extension.acceptOffered(edit);
    await this.stands("accepted", edit);
  }

  async rejects(edit: string): Promise<void> {
    await this.scene.extension.rejectOffered(edit);
  }

  /** What `mcpdiff` in a terminal says, which ends with this code. */
  async mcpdiff(code: number, ...command: readonly string[]): Promise<string> {
    const where = ["-w", this.scene.root, "--state-dir", process.env.HASHLINE_STATE!];
    const [ended, said] = await new Promise<[unknown, string]>((over) =>
      execFile(process.env.HASHLINE_BIN!, ["diff", ...command, ...where], (error, stdout, stderr) =>
        over([error?.code ?? 0, stdout + stderr]),
      ),
    );
    assert.equal(ended, code, `mcpdiff ${command.join(" ")}: ${said}`);
    return said;
  }

  // ---- what is to be seen -------------------------------------------------------------------------------------

  /** Waits until the folder holds just these files, and the editors just these texts. */
  async holds(files: Files, texts: Files, why = "the tree"): Promise<void> {
    await until(
      () => sorted(this.files()) === sorted(files) && sorted(this.texts()) === sorted(texts),
      () => `${why}: ${sorted(files)} and in editors ${sorted(texts)}; but
${sorted(this.files())} and ${sorted(this.texts())}; to decide: ${this.scene.extension.undecided()}`,
    );
  }

  private files(): Files {
    const names = readdirSync(this.scene.folder);
    return Object.fromEntries(
      names.map((name) => [name, readFileSync(join(this.scene.folder, name), "utf8")]),
    );
  }

  private texts(): Files {
    const inputs = vscode.window.tabGroups.all.flatMap((group) => group.tabs.map(({ input }) => input));
    const uris = inputs.flatMap((input) => (input instanceof vscode.TabInputText ? [input.uri] : []));
    return Object.fromEntries(uris.map((uri) => [basename(uri.fsPath), textOf(uri)]));
  }

  /** Waits until edits are recorded so. */
  async stands(status: string, ...edits: readonly string[]): Promise<void> {
    let found: (string | undefined)[] = [];
    await until(
      async () => {
        const recorded = await this.recorded();
        found = edits.map((edit) => recorded.find(({ edit_id }) => edit_id.startsWith(edit))?.status);
        return found.every((one) => one === status);
      },
      () => `${edits} are ${status}: ${found}`,
    );
  }

  /** Waits until nothing is left to decide, in the editor and in the record. */
  async isOver(): Promise<void> {
    await until(
      () => this.scene.extension.undecided() === 0,
      () => `nothing is left to decide in the editor: ${this.scene.extension.undecided()} hunks`,
    );
    let own: readonly Recorded[] = [];
    await until(
      async () => {
        own = (await this.recorded()).filter(({ conversation_id }) => conversation_id === this.conversation);
        return own.length > 0 && own.every(({ status }) => status !== "pending");
      },
      () => `nothing is left to decide in the record: ${JSON.stringify(own)}`,
    );
  }

  private async recorded(): Promise<readonly Recorded[]> {
    const listed = await this.mcpdiff(0, "status", "--json", "-n", "0");
    return (JSON.parse(listed) as { edits: Recorded[] }).edits;
  }
}

function textOf(uri: vscode.Uri): string {
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
  return document ? document.getText() + (document.isDirty ? "(not saved)" : "") : "(no document)";
}
