/** Comparisons: what is saved on the right side, and what is not. */
import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { Operation } from "../agent.ts";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { SAVED, UNSAVED, withHunks } from "./greeting.ts";
import { HELD, offered } from "./offer.ts";
import { linesOf, type Scene } from "./scene.ts";

/** The right side of the comparison of what is in front, once it has these words. */
async function compared(scene: Scene, words: string): Promise<vscode.TextEditor> {
  await scene.extension.compare();
  return until(() => {
    const editor = vscode.window.activeTextEditor;
    const isRight = editor?.document.uri.scheme === "hashline-proposed";
    return isRight && editor.document.getText().includes(words) ? editor : undefined;
  }, `a comparison with ${words} on its right side`);
}

/** As the key in a comparison saves. */
async function save(): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.files.saveWithoutFormatting");
}

async function append(editor: vscode.TextEditor, row: number, text: string): Promise<void> {
  const { end } = editor.document.lineAt(row).range;
  assert.ok(await editor.edit((edit) => edit.insert(end, text)));
}

export default {
  heading: "compare",
  tests: {
    async "hunks that build on each other: saved as they are, they are accepted as they are"(scene) {
      const { document } = await builtOn(scene);
      const editor = await compared(scene, "return 2c;");
      await save();
      await scene.has(document, ["one", "return 2;", "return 2c;", "three", "four"]);
      await scene.shows(document, []);
      assert.equal(editor.document.isDirty, false);
    },

    async "hunks that build on each other: the upper one changed, and a line below them"(scene) {
      const { document, agent, upper } = await builtOn(scene);
      const editor = await compared(scene, "return 2c;");
      await append(editor, 2, " // mine");
      await append(editor, 4, "!");
      await save();
      await scene.has(document, ["one", "return 2;", "return 2c; // mine", "three", "four!"]);
      await scene.shows(document, []);
      await agent.hears(upper, "accepted, changed by the person", "return 2c; // mine");
    },

    async "hunks that build on each other: the lower one changed cannot be saved, and nothing is lost or decided"(
      scene,
    ) {
      const { document } = await builtOn(scene);
      const editor = await compared(scene, "return 2c;");
      await append(editor, 1, " // mine");
      await save();
      assert.equal(editor.document.isDirty, true);
      assert.ok(editor.document.getText().includes("return 2; // mine"));
      await scene.shows(document, ["1 held 1-2", "1 held 2-2"]);
      await vscode.commands.executeCommand("workbench.action.files.revert");
    },

    async "hunks that are decided as one: lines of both and between them changed, and all of it is accepted"(
      scene,
    ) {
      const { document, agent, lower, upper } = await builtOn(scene, 1);
      const editor = await compared(scene, "return 2c;");
      await append(editor, 1, " // lower");
      await append(editor, 2, " // upper\n// and one more");
      await save();
      const lines = ["return 2; // lower", "return 2c; // upper", "// and one more"];
      await scene.has(document, ["one", ...lines, "three", "four"]);
      await scene.shows(document, []);
      assert.equal(editor.document.isDirty, false);
      await agent.hears(lower, "accepted, changed by the person", ...lines);
      await agent.hears(upper, "accepted, changed by the person", ...lines.slice(1));
    },

    async "hunks that are decided as one: what both made taken out leaves only the person's line"(scene) {
      const { document } = await builtOn(scene, 1);
      const editor = await compared(scene, "return 2c;");
      assert.ok(await editor.edit((edit) => edit.replace(new vscode.Range(1, 0, 3, 0), "mine\n")));
      await save();
      await scene.has(document, ["one", "mine", "three", "four"]);
      await scene.shows(document, []);
      await vscode.window.showTextDocument(document);
      await scene.undo();
      await scene.has(document, ["one", "two", "three", "four"]);
      await scene.shows(document, ["1 held 1-2"]);
    },

    async "a formatter that runs on saving: not by the key, and otherwise nothing of it is accepted"(scene) {
      const { document } = await offered(scene);
      await scene.formats(document, (line) => line.replace("// the end", "// THE END"), {
        scheme: "hashline-proposed",
      });
      const editor = await compared(scene, "`Bye");
      await append(editor, 2, " // mine");
      assert.equal(await editor.document.save(), false, "it is told, and stays as not saved");
      assert.ok(editor.document.getText().includes("// THE END"), "the formatter has run");
      await scene.shows(document, HELD);
      assert.deepEqual(linesOf(document), UNSAVED);
      await vscode.commands.executeCommand("workbench.action.files.revert");
      await save();
      await scene.has(document, withHunks(1, 2, 3));
    },

    async "a proposed file that is not there is compared with nothing"(scene) {
      await scene.configure("mode.disk", "propose");
      await scene.show("beside.js", SAVED);
      const agent = await scene.agent();
      const path = scene.path("lib/made.js");
      await agent.call("write_file", { path, content: "made();\n" });
      const uri = vscode.Uri.file(path);
      await until(() => scene.extension.hunksOf(uri).length > 0, "it is offered");
      await scene.extension.compare(uri);
      const right = await until(() => {
        const document = vscode.window.activeTextEditor?.document;
        return document?.uri.scheme === "hashline-proposed" ? document : undefined;
      }, "the right side");
      assert.equal(right.getText(), "made();\n");
      const base = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "hashline-base");
      assert.equal(base?.getText(), "");
    },
  },
} satisfies Suite<Scene>;

/** Two turns of an agent, or one: a hunk, and one that was built on it. They are no turns of the agent of another scene. */
async function builtOn(scene: Scene, turns: 1 | 2 = 2) {
  const first = `turn_${randomUUID()}`;
  const second = turns === 1 ? first : `turn_${randomUUID()}`;
  const { document } = await scene.show("steps.txt", "one\ntwo\nthree\nfour");
  const agent = await scene.agent();
  const path = document.uri.fsPath;
  const two: Operation = ["replace", "two", "return 2;\nreturn 2b;"];
  const lower = await agent.edit(path, await scene.reads(agent, document), [two], {
    mcp_conversation_id: first,
  });
  await scene.shows(document, ["1 held 1-2"]);
  const upper = await agent.edit(path, await agent.read(path), [["replace", "2b", "return 2c;"]], {
    mcp_conversation_id: second,
  });
  await scene.shows(document, turns === 1 ? ["1 held 1-2"] : ["1 held 1-2", "1 held 2-2"]);
  return { document, agent, lower: lower.edit, upper: upper.edit };
}
