/** A stage in a real window: a folder of the test's own, what the person does in it, and agents beside. */
import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import type { Failure } from "../../src/failure.ts";
import { Agent, type Answer } from "../agent.ts";
import { until } from "../patience.ts";
import { Extension } from "./extension.ts";

let scenes = 0;

export class Scene {
  readonly root = vscode.workspace.workspaceFolders![0]!.uri.fsPath;
  readonly folder = join(this.root, `scene${++scenes}`);
  readonly extension: Extension;
  private readonly agents: Agent[] = [];
  private readonly disposables: vscode.Disposable[] = [];

  private constructor(extension: Extension) {
    this.extension = extension;
  }

  static async open(): Promise<Scene> {
    const scene = new Scene(await Extension.activated());
    mkdirSync(scene.folder, { recursive: true });
    return scene;
  }

  async close(): Promise<void> {
    for (const disposable of this.disposables) disposable.dispose();
    await Promise.all(this.agents.map((agent) => agent.stop()));
    await this.extension.settle();
    // Saved, because a decision that was not saved is to be made again when its file is closed.
    await vscode.workspace.saveAll();
    while (vscode.window.activeTextEditor) {
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    }
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  }

  // ---- the person ---------------------------------------------------------------------------------------------

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, bytes: string): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    return path;
  }

  /** Opens a new file that has these bytes, and has it in front. */
  async show(
    name: string,
    bytes: string,
    options: vscode.TextDocumentShowOptions = {},
  ): Promise<vscode.TextEditor> {
    const document = await vscode.workspace.openTextDocument(this.write(name, bytes));
    return vscode.window.showTextDocument(document, { preview: false, ...options });
  }

  /** Keys, as a person strikes them: they go where the cursor is. */
  async type(text: string): Promise<void> {
    for (const key of text) await vscode.commands.executeCommand("type", { text: key });
  }

  /** The cursor of the editor in front to the beginning, or the end, of the only line with these words. */
  async go(editor: vscode.TextEditor, words: string, where: "start" | "end" = "start"): Promise<void> {
    const { start } = editor.document.lineAt(rowOf(editor.document, words)).range;
    editor.selection = new vscode.Selection(start, start);
    // By key, as a person goes: that ends what is undone as one.
    await vscode.commands.executeCommand(where === "start" ? "cursorLineStart" : "cursorLineEnd");
  }

  /** Types a line above the one with these words. (A break at the end of a comment would go on with the comment.) */
  async typeAbove(editor: vscode.TextEditor, words: string, line: string): Promise<void> {
    await this.go(editor, words);
    await this.type("\n");
    const above = editor.document.lineAt(rowOf(editor.document, words) - 1).range.start;
    editor.selection = new vscode.Selection(above, above);
    await this.type(line);
  }

  async undo(): Promise<void> {
    await vscode.commands.executeCommand("undo");
  }

  async redo(): Promise<void> {
    await vscode.commands.executeCommand("redo");
  }

  /** A setting of the window's folder, until the test is over. */
  async configure(name: string, value: unknown): Promise<void> {
    const configuration = () => vscode.workspace.getConfiguration("hashline");
    await configuration().update(name, value, vscode.ConfigurationTarget.Workspace);
    this.disposables.push({
      dispose: () => void configuration().update(name, undefined, vscode.ConfigurationTarget.Workspace),
    });
  }

  /** The program that the person's settings name from now on. */
  async useBinary(binary: string): Promise<void> {
    const configuration = () => vscode.workspace.getConfiguration("hashline");
    await configuration().update("binary", binary, vscode.ConfigurationTarget.Global);
  }

  /** The hash that the person's settings say it has to have. */
  async pinBinary(hash: string): Promise<void> {
    const configuration = () => vscode.workspace.getConfiguration("hashline");
    await configuration().update("binaryHash", hash, vscode.ConfigurationTarget.Global);
  }

  uses(disposable: vscode.Disposable): void {
    this.disposables.push(disposable);
  }

  /** Formats a document, or all that a filter says, when it is saved, line by line; it may take its time. */
  async formats(
    document: vscode.TextDocument,
    format: (line: string) => string,
    filter: vscode.DocumentFilter = { pattern: document.uri.fsPath },
    before: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const configuration = () => vscode.workspace.getConfiguration("editor", document);
    await configuration().update("formatOnSave", true, vscode.ConfigurationTarget.Workspace);
    this.uses({
      dispose: () =>
        void configuration().update("formatOnSave", undefined, vscode.ConfigurationTarget.Workspace),
    });
    this.uses(
      vscode.languages.registerDocumentFormattingEditProvider(filter, {
        provideDocumentFormattingEdits: async (text) => {
          await before();
          const whole = new vscode.Range(0, 0, text.lineCount, 0);
          return [vscode.TextEdit.replace(whole, linesOf(text).map(format).join("\n"))];
        },
      }),
    );
  }

  async closeEditor(document: vscode.TextDocument): Promise<void> {
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(
        ({ input }) =>
          input instanceof vscode.TabInputText && input.uri.toString() === document.uri.toString(),
      );
    if (document.isDirty) {
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    } else {
      assert.ok(await vscode.window.tabGroups.close(tabs));
    }
  }

  tabs(): string[] {
    return vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));
  }

  /** Waits until two looks, a moment apart, find the same places in all editors: they settle after they are shown. */
  async untilStill(): Promise<void> {
    const look = () =>
      JSON.stringify(
        vscode.window.visibleTextEditors.map(({ selections, visibleRanges }) => [selections, visibleRanges]),
      );
    let before = "";
    let alike = 0;
    await until(() => {
      const now = look();
      alike = now === before ? alike + 1 : 0;
      before = now;
      return alike > 20;
    }, "the editors stand still");
  }

  // ---- agents -------------------------------------------------------------------------------------------------

  /** An agent that has found the editor: it reads what is in it. */
  async agent(name?: string): Promise<Agent> {
    const agent = await Agent.start(
      { binary: process.env.HASHLINE_BIN!, root: this.root, state: process.env.HASHLINE_STATE! },
      name,
    );
    this.agents.push(agent);
    return agent;
  }

  /** Waits until an agent reads what the editor has, to the last byte. */
  async reads(agent: Agent, document: vscode.TextDocument): Promise<Answer> {
    const path = document.uri.fsPath;
    let read: Answer | undefined;
    await until(
      async () => {
        read = await agent.read(path, { view: "buffer" });
        return read.hash === hashOf(document) && read.text.includes(" Open in ");
      },
      () => `the agent reads\n${read?.text}\nand the editor has\n${document.getText()}`,
    );
    return agent.read(path);
  }

  /** Waits until an agent finds it open in the editor. */
  async readsOpen(agent: Agent, path: string): Promise<Answer> {
    let said = "";
    return until(
      async () => {
        const read = await agent.try("read_text_file", { path });
        said = read.text;
        return !read.refused && said.includes(" Open in ") ? read : undefined;
      },
      () => `it is open in the editor:\n${said}`,
    );
  }

  /** Waits until the sidecar has let go of a document that was closed. */
  async untilClosed(agent: Agent, path: string): Promise<void> {
    await until(async () => !(await agent.read(path)).text.includes(" Open in "), "it is closed");
  }

  /** Sets what becomes of edits of files that are not open, and waits until that is known. */
  async setsDiskMode(mode: "propose" | "apply", agent: Agent): Promise<void> {
    await this.configure("mode.disk", mode);
    const path = this.path("probe.js");
    await until(async () => {
      this.write("probe.js", "probe();\n");
      const probe = await agent.edit(path, await agent.read(path), [["delete", "probe();"]]);
      await agent.call("withdraw_edit", { edit_id: probe.edit });
      return probe.text.includes("held") === (mode === "propose");
    }, `it is known: ${mode}`);
    const listed = () => this.extension.hunksOf(vscode.Uri.file(path));
    await until(() => listed().length === 0, "nothing of that is left to decide");
  }

  /** The open documents, as agents are told of them, once this one is among them. */
  async listing(agent: Agent, name: string): Promise<string> {
    let listed = "";
    await until(
      async () => {
        listed = (await agent.call("list_documents")).text;
        return listed.includes(name);
      },
      () => `${name} in\n${listed}`,
    );
    return listed;
  }

  /** Why the sidecar does not run, once that is known. */
  async failure(kind?: string): Promise<Failure> {
    const state = await until(
      () => {
        const now = this.extension.state();
        return now.kind === "failed" && (kind === undefined || now.failure.kind === kind) ? now : undefined;
      },
      () => `the sidecar fails: ${JSON.stringify(this.extension.state())}`,
      20_000,
    );
    return state.failure;
  }

  // ---- what is to be seen -------------------------------------------------------------------------------------

  async has(document: vscode.TextDocument, lines: readonly string[], why = ""): Promise<void> {
    await until(
      () => document.getText() === lines.join(endingOf(document)),
      () => `${why}\nthe text is\n${document.getText()}\nand not\n${lines.join("\n")}`,
    );
  }

  /** Waits until the undecided hunks of a document are these: "1 held 2-3" is hunk 1, held, from line 2 up to line 3, 0-based. */
  async shows(document: vscode.TextDocument, hunks: readonly string[], why = ""): Promise<void> {
    let shown: readonly string[] = [];
    await until(
      () => {
        shown = this.extension.hunks(document);
        return JSON.stringify(shown) === JSON.stringify(hunks);
      },
      () =>
        `${why}\nthe hunks are ${JSON.stringify(shown)}\nand not ${JSON.stringify(hunks)}\n${document.getText()}`,
    );
  }

  onDisk(path: string): string {
    return readFileSync(path, "utf8");
  }
}

export function linesOf(document: vscode.TextDocument): string[] {
  return Array.from({ length: document.lineCount }, (_, row) => document.lineAt(row).text);
}

/** The only line with these words. */
function rowOf(document: vscode.TextDocument, words: string): number {
  const rows = linesOf(document).flatMap((line, row) => (line.includes(words) ? [row] : []));
  assert.equal(rows.length, 1, `"${words}" stands ${rows.length} times in ${document.getText()}`);
  return rows[0]!;
}

function endingOf(document: vscode.TextDocument): string {
  return document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
}

/** As far as agents are shown it. */
function hashOf(document: vscode.TextDocument): string {
  return createHash("sha256").update(document.getText()).digest("hex").slice(0, 12);
}
