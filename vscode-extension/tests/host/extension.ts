/** The extension under test: what it shows of itself, and its commands, as keys and menus call them. */

import * as vscode from "vscode";
import type { HashlineApi } from "../../src/extension.ts";
import type { Entry } from "../../src/review/hunks.ts";
import type { Node } from "../../src/review/tree.ts";
import type { Way } from "../../src/review/wording.ts";
import { until } from "../patience.ts";

const run = (command: string, ...about: readonly unknown[]) =>
  vscode.commands.executeCommand(`hashline.${command}`, ...about);

export class Extension {
  private readonly api: HashlineApi;

  private constructor(api: HashlineApi) {
    this.api = api;
  }

  static async activated(): Promise<Extension> {
    const extension = vscode.extensions.getExtension<HashlineApi | undefined>("hashline.hashline");
    if (!extension) throw new Error("the extension is not there");
    const api = await extension.activate();
    if (!api) throw new Error("it shows nothing of itself");
    return new Extension(api);
  }

  // ---- what it shows ------------------------------------------------------------------------------------------

  state(): ReturnType<HashlineApi["state"]> {
    return this.api.state();
  }

  statusBar(): ReturnType<HashlineApi["statusBar"]> {
    return this.api.statusBar();
  }

  /** Waits until it does: it follows what it counts. */
  async statusBarSays(text: string): Promise<void> {
    await until(
      () => this.statusBar()?.text === text,
      () => `${text}, and not ${this.statusBar()?.text}`,
    );
  }

  health(): string {
    return this.api.health();
  }

  /** How many hunks the tree has. */
  inTree(): number {
    return this.api.tree().reduce((sum, { entries }) => sum + entries.length, 0);
  }

  /** The files in the tree, without their folders: "shapes.js (+3 −2 · 2 left)". */
  files(): readonly string[] {
    const rows = this.api.tree().flatMap(({ children }) => children.flatMap((group) => group.children));
    return rows.map(({ label, description }) => `${label.split("/").at(-1)} (${description})`).sort();
  }

  /** The undecided hunks of an open document, once the sidecar has told of this very text: "1 held 2-3" is hunk 1, held, from line 2
   * up to line 3, 0-based. */
  hunks(document: vscode.TextDocument): readonly string[] {
    const reviewed = this.reviewed(document.uri);
    if (!reviewed) return [];
    return reviewed.version === document.version ? this.hunksOf(document.uri) : ["(no list for this text)"];
  }

  /** The same of a document that need not be open. */
  hunksOf(uri: vscode.Uri): readonly string[] {
    return this.entries(uri).map(({ hunk, lines }) => {
      const where = lines ? `${lines.start}-${lines.end}` : "nowhere";
      return `${hunk.number} ${hunk.state} ${where}${hunk.deciding ? " deciding" : ""}`;
    });
  }

  agents(document: vscode.TextDocument): readonly string[] {
    return [...new Set(this.entries(document.uri).map(({ edit }) => edit.agent))].sort();
  }

  undecided(): number {
    return this.api.documents().reduce((sum, { entries }) => sum + entries.length, 0);
  }

  drawn(editor: vscode.TextEditor): ReturnType<HashlineApi["drawn"]> {
    return this.api.drawn(editor);
  }

  // ---- what the person asks for -------------------------------------------------------------------------------

  /** About the hunk at the cursor. */
  async accept(): Promise<void> {
    await run("acceptHunk");
  }

  async reject(): Promise<void> {
    await run("rejectHunk");
  }

  /** About a row of the tree that is still drawn when VS Code does not know it any more, as its button calls. */
  async acceptForgottenRow(): Promise<void> {
    const row = { $treeViewId: "hashline.review", $treeItemHandle: "1/forgotten" };
    // What is called from inside the extension host does not look for the row.
    const commands = [{ command: "hashline.acceptHunk", args: row }];
    await vscode.commands.executeCommand("runCommands", { commands });
  }

  async acceptHunk(uri: vscode.Uri, edit: string, number: number): Promise<void> {
    await run("acceptHunk", this.entry(uri, edit, number).name);
  }

  async rejectHunk(uri: vscode.Uri, edit: string, number: number): Promise<void> {
    await run("rejectHunk", this.entry(uri, edit, number).name);
  }

  /** About an edit, once it is offered, whichever file it is in. */
  async acceptOffered(edit: string): Promise<void> {
    await run("acceptHunk", await this.offered(edit));
  }

  async rejectOffered(edit: string): Promise<void> {
    await run("rejectHunk", await this.offered(edit));
  }

  async acceptEdit(uri: vscode.Uri, edit: string): Promise<void> {
    await run("acceptEdit", this.entry(uri, edit, 1).name);
  }

  async rejectFile(uri: vscode.Uri): Promise<void> {
    await run("rejectFile", uri);
  }

  async acceptFileOf(uri: vscode.Uri): Promise<void> {
    await run("acceptFile", uri);
  }

  /** About the file in front. */
  async acceptFile(): Promise<void> {
    await run("acceptFile");
  }

  async acceptAll(): Promise<void> {
    await run("acceptAll");
  }

  async rejectAll(): Promise<void> {
    await run("rejectAll");
  }

  /** In one of the ways that are offered for a hunk. */
  async decide(uri: vscode.Uri, edit: string, number: number, way: Omit<Way, "word">): Promise<void> {
    await run("decideWay", this.entry(uri, edit, number).name, way);
  }

  async reopenDecision(): Promise<void> {
    await run("reopenDecision");
  }

  /** Compares a file, or the one in front. */
  async compare(uri?: vscode.Uri): Promise<void> {
    await run("compare", ...(uri ? [uri] : []));
  }

  async reviewAll(): Promise<void> {
    await run("reviewAll");
  }

  /** By the row of the tree that is called so. */
  async ofRow(command: string, label: string): Promise<void> {
    const rows = () => this.api.tree().flatMap((agent) => [agent, ...agent.children]);
    const row = await until(
      () => rows().find((candidate) => candidate.label === label),
      () => `a row ${label} among ${rows().map((candidate) => candidate.label)}`,
    );
    await run(command, row);
  }

  /** Shows the history of the file in front. */
  async showHistory(): Promise<void> {
    await run("showHistory");
  }

  /** The hunks in the history, the newest edit first, as "line 3 · +1 −1 · in the text". */
  past(): readonly string[] {
    return this.pastRows().map(({ description }) => description);
  }

  /** By a row of the history, from 1. */
  async ofPast(command: string, row: number): Promise<void> {
    await run(command, await until(() => this.pastRows()[row - 1], `a row ${row} of the history`));
  }

  private pastRows(): readonly Node[] {
    return this.api.history().flatMap(({ children }) => children);
  }

  async next(): Promise<void> {
    await run("nextHunk");
  }

  async restart(): Promise<void> {
    await run("restart");
  }

  /** Leaves nothing to decide to the next test. */
  async settle(): Promise<void> {
    if (this.state().kind !== "running") return;
    for (const { uri, entries } of this.api.documents()) {
      // What is built on another one comes after it.
      for (const { name, hunk } of [...entries].reverse()) {
        const way: Omit<Way, "word"> =
          hunk.state === "edited" ? { decision: "reject", edited: "keep" } : { decision: "reject" };
        await run("decideWay", name, way);
      }
      await until(
        () => this.entries(vscode.Uri.parse(uri)).length === 0,
        () => `there is nothing left to decide in ${uri}: ${this.hunksOf(vscode.Uri.parse(uri))}`,
      );
    }
  }

  /** The name of the first hunk of an edit, once it is to be decided. */
  private async offered(edit: string): Promise<string> {
    const entries = () => this.api.documents().flatMap((document) => document.entries);
    const found = () => entries().find((entry) => entry.edit.id.startsWith(edit));
    return (await until(found, () => `${edit} is offered among ${entries().map(({ name }) => name)}`)).name;
  }

  private reviewed(uri: vscode.Uri): ReturnType<HashlineApi["documents"]>[number] | undefined {
    return this.api.documents().find(({ key }) => key === uri.toString());
  }

  private entries(uri: vscode.Uri): readonly Entry[] {
    return this.reviewed(uri)?.entries ?? [];
  }

  private entry(uri: vscode.Uri, edit: string, number: number): Entry {
    const found = this.entries(uri).find(
      (entry) => entry.edit.id.startsWith(edit) && entry.hunk.number === number,
    );
    if (!found)
      throw new Error(`hunk ${number} of edit ${edit} is not among those to decide: ${this.hunksOf(uri)}`);
    return found;
  }
}
