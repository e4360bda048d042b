/** Edits that go into the text at once, to be kept or undone. */
import { strict as assert } from "node:assert";
import type * as vscode from "vscode";
import type { Agent, Answer } from "../agent.ts";
import type { Suite } from "../report.ts";
import { changed, SAVED, THREE, UNSAVED, withHunks } from "./greeting.ts";
import { HELD, unsavedWork } from "./offer.ts";
import { linesOf, type Scene } from "./scene.ts";

/** The three of them, once they are in the text. */
export const IN_TEXT = ["1 inText 2-3", "2 inText 6-8", "3 inText 11-12"];

export async function applied(
  scene: Scene,
  name = "greet.js",
): Promise<{ editor: vscode.TextEditor; agent: Agent; edited: Answer }> {
  await scene.configure("mode.open", "apply");
  const editor = await scene.show(name, SAVED);
  await unsavedWork(scene, editor);
  const agent = await scene.agent();
  const read = await scene.reads(agent, editor.document);
  const edited = await agent.edit(editor.document.uri.fsPath, read, THREE);
  await scene.has(editor.document, withHunks(1, 2, 3), "all three go in");
  await scene.shows(editor.document, IN_TEXT);
  return { editor, agent, edited };
}

export default {
  heading: "apply",
  tests: {
    async "one is kept, one is undone; the disk is not touched"(scene) {
      const { editor, agent, edited } = await applied(scene);
      const { document } = editor;
      await scene.go(editor, 'farewell("world")');
      await scene.extension.accept();
      await scene.shows(document, IN_TEXT.slice(0, 2), "kept");
      assert.deepEqual(linesOf(document), withHunks(1, 2, 3));
      await scene.extension.rejectHunk(document.uri, edited.edit, 1);
      await scene.has(document, withHunks(2, 3), "undone");
      await scene.shows(document, ["2 inText 6-8"]);
      assert.equal(scene.onDisk(document.uri.fsPath), SAVED);
      await scene.reads(agent, document);
    },

    async "undo over the delivery makes all of it held, and it stays out until accepted"(scene) {
      const { editor, agent } = await applied(scene);
      const { document } = editor;
      await scene.undo();
      await scene.has(document, UNSAVED, "one step for all three");
      await scene.shows(document, HELD);
      await scene.go(editor, "Bye");
      await scene.extension.accept();
      await scene.has(document, withHunks(2));
      await scene.shows(document, ["1 held 2-3", "3 held 11-11"]);
      await scene.reads(agent, document);
    },

    async "typed inside, its lines are the person's too: undone with them, or without"(scene) {
      for (const way of ["undo", "keep"] as const) {
        const { editor, edited } = await applied(scene, `${way}.js`);
        const { document } = editor;
        await scene.go(editor, "return bye", "end");
        await scene.type("//no");
        await scene.shows(document, ["1 inText 2-3", "2 edited 6-8", "3 inText 11-12"]);
        await scene.extension.decide(document.uri, edited.edit, 2, { decision: "reject", edited: way });
        const back = way === "undo" ? [UNSAVED[6]!] : [UNSAVED[6]!, "  return bye;//no"];
        await scene.has(document, changed(withHunks(1, 3), [6, 7, back]), way);
        await scene.shows(document, [IN_TEXT[0]!, way === "undo" ? "3 inText 10-11" : IN_TEXT[2]!]);
      }
    },
  },
} satisfies Suite<Scene>;
