/** Texts of all kinds: line endings, columns, documents without a file, notebooks. */
import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { changed, FILE, SAVED, THREE } from "./greeting.ts";
import { linesOf, type Scene } from "./scene.ts";

const APPLIED = changed(
  FILE,
  [9, 9, ['farewell("world");']],
  [5, 6, ["  const bye = `Bye, ${name}.`;", "  return bye;"]],
  [1, 2, ["  return `Hello, ${name}!`;"]],
);

export default {
  heading: "texts",
  tests: {
    async "line endings of Windows stay, in what is accepted, too"(scene) {
      const { document } = await scene.show("dos.js", `${FILE.join("\r\n")}\r\n`);
      assert.equal(document.eol, vscode.EndOfLine.CRLF);
      const agent = await scene.agent();
      await agent.edit(document.uri.fsPath, await scene.reads(agent, document), THREE);
      await scene.shows(document, ["1 held 1-2", "2 held 5-6", "3 held 9-9"]);
      await scene.extension.acceptFile();
      await scene.has(document, [...APPLIED, ""]);
      await scene.shows(document, []);
      await scene.reads(agent, document);
      assert.ok(await document.save());
      assert.equal(scene.onDisk(document.uri.fsPath), `${APPLIED.join("\r\n")}\r\n`);
    },

    async "columns count as the editor counts them: pictures and accents before what is typed and accepted"(
      scene,
    ) {
      const lines = ["// 🦀🦀 ünï 🦀", "let a = '👩‍👩‍👧'; // 𝒳 end", "naïve(𝒳);", "last"];
      const editor = await scene.show("wide.js", lines.join("\n"));
      const { document } = editor;
      const agent = await scene.agent();
      await scene.reads(agent, document);
      // Between pictures, in the middle of a line: a column counted otherwise would split one of them.
      editor.selection = new vscode.Selection(0, 5, 0, 5);
      await scene.type("é🦀x");
      editor.selection = new vscode.Selection(2, 6, 2, 8);
      await scene.type("𝒴𝒴");
      const typed = changed(lines, [2, 3, ["naïve(𝒴𝒴);"]], [0, 1, ["// 🦀é🦀x🦀 ünï 🦀"]]);
      await scene.has(document, typed);
      const read = await scene.reads(agent, document);
      assert.deepEqual(read.lines, typed);
      await agent.edit(document.uri.fsPath, read, [
        ["replace", "naïve", "naïve('🦀𝒴');"],
        ["insert_after", "last", "🦀 after"],
      ]);
      await scene.shows(document, ["1 held 2-3", "2 held 4-4"]);
      await scene.extension.acceptFile();
      await scene.has(document, [...changed(typed, [2, 3, ["naïve('🦀𝒴');"]]), "🦀 after"]);
      await scene.reads(agent, document);
    },

    async "a byte-order mark and a missing final newline outlive an acceptance and a save"(scene) {
      const { document } = await scene.show("marked.js", `\ufeff${SAVED}`);
      const agent = await scene.agent();
      const path = document.uri.fsPath;
      await agent.edit(path, await scene.readsOpen(agent, path), THREE);
      await scene.shows(document, ["1 held 1-2", "2 held 5-6", "3 held 9-9"]);
      await scene.extension.acceptFile();
      await scene.has(document, APPLIED);
      assert.ok(await document.save());
      assert.equal(scene.onDisk(path), `\ufeff${APPLIED.join("\n")}`);
    },

    async "an untitled document is read and edited by its URI"(scene) {
      const document = await vscode.workspace.openTextDocument({ language: "javascript", content: SAVED });
      const editor = await vscode.window.showTextDocument(document, { preview: false });
      const uri = document.uri.toString();
      const agent = await scene.agent();
      const read = await scene.readsOpen(agent, uri);
      assert.deepEqual(read.lines, FILE);
      const edited = await agent.edit(uri, read, THREE);
      assert.ok(edited.text.includes("· pending · held"), edited.text);
      await scene.shows(document, ["1 held 1-2", "2 held 5-6", "3 held 9-9"]);
      await scene.go(editor, "Hello");
      await scene.extension.accept();
      await scene.has(document, changed(FILE, [1, 2, ["  return `Hello, ${name}!`;"]]));
      await scene.shows(document, ["2 held 5-6", "3 held 9-9"]);
      await scene.undo();
      await scene.has(document, FILE);
      await scene.shows(document, ["1 held 1-2", "2 held 5-6", "3 held 9-9"]);
    },

    async "a notebook is left alone: agents find none of its cells, and what they do to its file is not done to the open one"(
      scene,
    ) {
      const path = scene.write("book.ipynb", notebook("print('cell')"));
      const book = await vscode.workspace.openNotebookDocument(vscode.Uri.file(path));
      await vscode.window.showNotebookDocument(book);
      const agent = await scene.agent();
      await scene.show("beside.js", SAVED);
      const listed = await scene.listing(agent, "beside.js");
      assert.ok(!listed.includes("ipynb") && !listed.includes("cell:"), listed);
      assert.equal(book.cellCount, 1);
      assert.equal(book.cellAt(0).document.getText(), "print('cell')");
      assert.equal(book.isDirty, false);
      assert.deepEqual(scene.extension.hunks(book.cellAt(0).document), []);
    },

    async "a file over the limit of VS Code's: the language status says that agents see it as it was saved last, and so they do"(
      scene,
    ) {
      const text = `the first\n${"a line of thirty-two characters\n".repeat(1_640_000)}`;
      const path = scene.write("large.txt", text);
      const files = () => vscode.workspace.getConfiguration("workbench");
      await files().update("editorLargeFileConfirmation", 1024, vscode.ConfigurationTarget.Workspace);
      try {
        await vscode.commands.executeCommand("vscode.open", vscode.Uri.file(path));
        await until(
          () => scene.extension.health().startsWith("File too large: "),
          () => `it is said: ${scene.extension.health()}`,
          20_000,
        );
        assert.match(scene.extension.health(), /agents see .*large\.txt as it was saved last/);
        const agent = await scene.agent();
        const read = await agent.read(path, { start_line: 1, end_line: 2 });
        assert.doesNotMatch(read.text, / Open in /);
        const edited = await agent.edit(path, read, [["replace", "the first", "the very first"]]);
        assert.match(edited.text, /^\[.* · edit [0-9a-f]+ · pending/);
        const changed = text.replace("the first", "the very first");
        assert.ok(scene.onDisk(path) === changed, "it is written as a file that is not open");
        await scene.show("small.txt", "one");
        await until(
          () => scene.extension.health().startsWith("Sidecar "),
          () => `it is said of that file alone: ${scene.extension.health()}`,
        );
      } finally {
        await files().update("editorLargeFileConfirmation", undefined, vscode.ConfigurationTarget.Workspace);
      }
    },

    async "what other programs write into a clean document comes with its held edits in their places"(scene) {
      const long = [...Array.from({ length: 4 }, (_, n) => `// ${n}`), ...FILE];
      const { document } = await scene.show("outside.js", long.join("\n"));
      const agent = await scene.agent();
      await agent.edit(document.uri.fsPath, await scene.reads(agent, document), THREE);
      await scene.shows(document, ["1 held 5-6", "2 held 9-10", "3 held 13-13"]);
      scene.write("outside.js", ["// from elsewhere", ...long].join("\n"));
      await scene.has(document, ["// from elsewhere", ...long]);
      await scene.shows(document, ["1 held 6-7", "2 held 10-11", "3 held 14-14"]);
      assert.equal(document.isDirty, false);
      assert.deepEqual(linesOf(document).slice(1), long);
    },
  },
} satisfies Suite<Scene>;

function notebook(source: string): string {
  const cell = { cell_type: "code", execution_count: null, metadata: {}, outputs: [], source: [source] };
  return JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }, undefined, 1);
}
