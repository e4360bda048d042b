/** Other ways to decide: code actions, rows of the tree, and a save that follows an acceptance. */
import { strict as assert } from "node:assert";
import { isDeepStrictEqual } from "node:util";
import * as vscode from "vscode";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { SAVED, withHunks } from "./greeting.ts";
import { offered } from "./offer.ts";
import { linesOf, type Scene } from "./scene.ts";

/** The code action of this title about a line, as the light bulb takes it. */
async function take(document: vscode.TextDocument, row: number, title: RegExp): Promise<void> {
  const range = new vscode.Range(row, 0, row, 0);
  const action = await until(async () => {
    const offered = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      "vscode.executeCodeActionProvider",
      document.uri,
      range,
    );
    return offered.find((candidate) => title.test(candidate.title));
  }, `a code action ${title} in row ${row}`);
  if (action.edit) assert.ok(await vscode.workspace.applyEdit(action.edit));
  const { command, arguments: args = [] } = action.command!;
  await vscode.commands.executeCommand(command, ...args);
}

export default {
  heading: "ways",
  tests: {
    async "a code action accepts and rejects; what was decided last is reopened first"(scene) {
      const { document } = await offered(scene);
      await take(document, 2, /^Accept/);
      await scene.has(document, withHunks(1));
      await scene.shows(document, ["2 held 6-7", "3 held 10-10"]);
      await take(document, 6, /^Reject/);
      await scene.shows(document, ["3 held 10-10"]);
      await scene.extension.reopenDecision();
      await scene.shows(document, ["2 held 6-7", "3 held 10-10"], "the rejection, which came last");
      assert.deepEqual(linesOf(document), withHunks(1));
    },

    async "a conversation and an agent are decided by their rows"(scene) {
      const first = await scene.show("first.js", SAVED);
      const [claude, codex] = [await scene.agent("claude-code"), await scene.agent("codex")];
      const path = first.document.uri.fsPath;
      const read = await scene.reads(claude, first.document);
      const one = { mcp_conversation_id: "one" };
      await claude.edit(path, read, [["delete", "// the end"]], one);
      await claude.edit(path, await claude.read(path), [["insert_before", "function greet", "// new"]], one);
      await claude.edit(path, read, [["replace", "Hello", "  // hello"]], { mcp_conversation_id: "two" });
      await codex.edit(path, await codex.read(path), [["replace", "Bye", "  // bye"]]);
      await scene.shows(first.document, ["1 held 0-0", "1 held 1-2", "1 held 5-6", "1 held 9-10"]);
      await scene.extension.ofRow("rejectConversation", "Conversation one");
      await scene.shows(first.document, ["1 held 1-2", "1 held 5-6"]);
      await scene.extension.ofRow("acceptAgent", "codex");
      await scene.shows(first.document, ["1 held 1-2"]);
      assert.equal(first.document.lineAt(5).text, "  // bye");
      await scene.extension.ofRow("rejectAgent", "claude-code");
      await scene.shows(first.document, []);
    },

    async "what was decided goes out and in again from the history of the file"(scene) {
      const { extension } = scene;
      const { document, edited } = await offered(scene);
      await extension.acceptHunk(document.uri, edited.edit, 1);
      await scene.has(document, withHunks(1));
      await extension.rejectFile(document.uri);
      await scene.shows(document, []);
      await extension.showHistory();
      const has = (expected: readonly string[]) =>
        until(
          () => isDeepStrictEqual(extension.past(), expected),
          () => `the history is ${extension.past()}`,
        );
      const [second, third] = ["line 7 · +2 −1", "after line 10 · +1"];
      await has(["line 3 · +1 −1 · in the text", `${second} · rejected`, `${third} · rejected`]);
      await extension.ofPast("acceptHunk", 2);
      await scene.has(document, withHunks(1, 2));
      await has([
        "line 3 · +1 −1 · in the text",
        "lines 7–8 · +2 −1 · in the text",
        "after line 11 · +1 · rejected",
      ]);
      await extension.ofPast("undoHunk", 1);
      await scene.has(document, withHunks(2));
      await extension.ofPast("reopenHunk", 3);
      await scene.shows(document, ["3 held 11-11"]);
      const other = await scene.show("other.js", SAVED);
      await has([]);
      await vscode.window.showTextDocument(document);
      await until(() => extension.past().length === 3, `the history of ${document.uri}`);
      assert.equal(other.document.getText(), SAVED);
    },

    async "saved after an acceptance, if that is wished; a slow formatter makes it no second one"(scene) {
      await scene.configure("saveAfterAccept", "always");
      const { document, path, edited, agent } = await offered(scene);
      let formatted = 0;
      const longerThanTheSidecarWaits = 2500;
      await scene.formats(
        document,
        (line) => line,
        undefined,
        () => {
          formatted += 1;
          return new Promise((over) => setTimeout(over, longerThanTheSidecarWaits));
        },
      );
      await scene.extension.acceptHunk(document.uri, edited.edit, 2);
      await scene.has(document, withHunks(2));
      await scene.shows(document, ["1 held 2-3", "3 held 11-11"]);
      await until(() => scene.onDisk(path) === withHunks(2).join("\n"), "it is saved", 15_000);
      assert.equal(formatted, 1);
      await agent.hears(edited.edit, "hunk 2 · accepted");
      assert.deepEqual(linesOf(document), withHunks(2));
      await scene.extension.rejectHunk(document.uri, edited.edit, 1);
      await scene.shows(document, ["3 held 11-11"]);
    },

    async "by default an acceptance saves nothing, and a clean file alone where that is wished"(scene) {
      const { document, path } = await offered(scene);
      await scene.configure("saveAfterAccept", "ifClean");
      await scene.extension.acceptFile();
      await scene.has(document, withHunks(1, 2, 3));
      await scene.shows(document, []);
      assert.equal(scene.onDisk(path), SAVED, "it had unsaved work in it");
    },
  },
} satisfies Suite<Scene>;
