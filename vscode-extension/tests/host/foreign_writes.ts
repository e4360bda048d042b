/** Other programs that write to files which are open. */
import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import type * as vscode from "vscode";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { changed, FILE, SAVED } from "./greeting.ts";
import { linesOf, type Scene } from "./scene.ts";

const FAREWELL = '  return "Farewell, " + name;';

/** Another program changes a line of the file. */
function write(document: vscode.TextDocument, lines: readonly string[]): void {
  writeFileSync(document.uri.fsPath, lines.join("\n"));
}

export default {
  heading: "other programs",
  tests: {
    async "what is written below unsaved work is held on it, and accepted"(scene) {
      const editor = await scene.show("greet.js", SAVED);
      const { document } = editor;
      await scene.reads(await scene.agent(), document);
      await scene.typeAbove(editor, "function greet", "// a draft");
      write(document, changed(FILE, [5, 6, [FAREWELL]]));
      await scene.shows(document, ["1 held 6-7"]);
      const unsaved = ["// a draft", ...FILE];
      assert.deepEqual(linesOf(document), unsaved, "the text stays as it is");
      await scene.extension.acceptFile();
      await scene.has(document, changed(unsaved, [6, 7, [FAREWELL]]));
      await scene.shows(document, []);
    },

    async "what is written in the place of unsaved work is a conflict until that is undone"(scene) {
      const editor = await scene.show("greet.js", SAVED);
      const { document } = editor;
      await scene.reads(await scene.agent(), document);
      await scene.go(editor, '"Bye, "', "end");
      // One word, so that one undo takes it back.
      await scene.type("//mine");
      write(document, changed(FILE, [5, 6, [FAREWELL]]));
      await scene.shows(document, ["1 conflicted 5-6"]);
      await scene.undo();
      await scene.shows(document, ["1 held 5-6"]);
    },

    async "a text without unsaved work is read again, and nothing is to be decided"(scene) {
      const { document } = await scene.show("greet.js", SAVED);
      await scene.reads(await scene.agent(), document);
      const written = changed(FILE, [5, 6, [FAREWELL]]);
      write(document, written);
      await until(() => document.getText() === written.join("\n"), "the editor reads it again");
      await scene.shows(document, []);
    },
  },
} satisfies Suite<Scene>;
