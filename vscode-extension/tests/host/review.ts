/** Held edits in a text that the person goes on with. */
import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import type { Suite } from "../report.ts";
import { changed, FILE, SAVED, UNSAVED, withHunks } from "./greeting.ts";
import { HELD, offered } from "./offer.ts";
import { linesOf, type Scene } from "./scene.ts";

export default {
  heading: "review",
  tests: {
    async "an agent edits what is not saved: nothing is in the text, and the hunks move along with the typing"(
      scene,
    ) {
      const { editor, document, path, agent, edited } = await offered(scene);
      assert.ok(edited.text.includes("· pending · held"), edited.text);
      assert.deepEqual(linesOf(document), UNSAVED);
      await scene.typeAbove(editor, "function farewell", "// how to part");
      await scene.shows(document, ["1 held 2-3", "2 held 7-8", "3 held 11-11"]);
      assert.equal(scene.onDisk(path), SAVED, "nothing is saved");
      await scene.reads(agent, document);
    },

    async "accepted, taken back by undo, made again by redo; rejected; the agent hears of each"(scene) {
      const { editor, document, path, agent, edited } = await offered(scene);
      await scene.go(editor, "Hello");
      await scene.extension.accept();
      await scene.has(document, withHunks(1), "accepted");
      await scene.shows(document, ["2 held 6-7", "3 held 10-10"]);
      await scene.undo();
      await scene.has(document, UNSAVED, "taken back, and nothing else");
      await scene.shows(document, HELD, "and it is to be decided again");
      await scene.redo();
      await scene.has(document, withHunks(1), "made again");
      await scene.shows(document, ["2 held 6-7", "3 held 10-10"], "and it is accepted again");

      await scene.extension.rejectHunk(document.uri, edited.edit, 3);
      await scene.shows(document, ["2 held 6-7"]);
      assert.deepEqual(linesOf(document), withHunks(1), "a rejection of what is held changes nothing");
      await scene.go(editor, "Bye");
      await scene.extension.accept();
      await scene.has(document, withHunks(1, 2));
      await scene.shows(document, []);
      assert.equal(scene.onDisk(path), SAVED, "no decision saves");
      assert.ok(document.isDirty);
      await agent.hears(edited.edit, "hunk 1 · accepted\n", "hunk 2 · accepted\n", "hunk 3 · rejected\n");
      await scene.reads(agent, document);
    },

    async "while an agent waits for a decision the status bar says so"(scene) {
      const { editor, document, agent } = await offered(scene);
      const says = (text: string) => scene.extension.statusBarSays(text);
      await says("$(request-changes) 3 in 1 file · claude-code");
      const waited = agent.call("await_review", { timeout_s: 40 });
      await says("$(request-changes) 3 in 1 file · claude-code waits");
      assert.match(scene.extension.statusBar()?.tooltip ?? "", /claude-code waits for your decision/);
      await scene.go(editor, "Hello");
      await scene.extension.accept();
      await waited;
      await scene.shows(document, ["2 held 6-7", "3 held 10-10"]);
      await says("$(request-changes) 2 in 1 file · claude-code");
    },

    async "a row of the tree that VS Code has forgotten is not taken for the hunk at the cursor"(scene) {
      const { editor, document, edited } = await offered(scene);
      await scene.go(editor, "Hello");
      await scene.extension.acceptForgottenRow();
      // A list that lacks the second was made after what came before.
      await scene.extension.rejectHunk(document.uri, edited.edit, 2);
      await scene.shows(document, ["1 held 2-3", "3 held 10-10"]);
      assert.deepEqual(linesOf(document), UNSAVED);
    },

    async "typing before and after an acceptance is undone by itself"(scene) {
      const { editor, document } = await offered(scene);
      await scene.go(editor, "// the end", "end");
      await scene.type("abc");
      await scene.extension.acceptFile();
      await scene.shows(document, []);
      await scene.go(editor, "// the end", "end");
      await scene.type("def");
      const all = withHunks(1, 2, 3);
      const end = (typed: string, lines: readonly string[]) => [
        ...lines.slice(0, -1),
        `${lines.at(-1)}${typed}`,
      ];
      await scene.has(document, end("abcdef", all));
      await scene.undo();
      await scene.has(document, end("abc", all), "first the typing behind it");
      await scene.shows(document, []);
      await scene.undo();
      await scene.has(document, end("abc", UNSAVED), "then the acceptance, of all three");
      await scene.shows(document, HELD);
      await scene.undo();
      await scene.has(document, UNSAVED, "then the typing before it");
      await scene.shows(document, HELD);
    },

    async "typed over, a hunk is conflicted until that is undone"(scene) {
      const { editor, document } = await offered(scene);
      await scene.go(editor, "Bye", "end");
      await scene.type("//no");
      await scene.shows(document, ["1 held 2-3", "2 conflicted 6-7", "3 held 10-10"]);
      await scene.undo();
      await scene.has(document, UNSAVED);
      await scene.shows(document, HELD);
    },

    async "the ways out of a conflict: mine"(scene) {
      await outOfConflict(scene, "keepMine", (typed) => [typed], "rejected");
    },

    async "the ways out of a conflict: the agent's"(scene) {
      await outOfConflict(scene, "takeTheirs", (_, proposed) => proposed, "accepted");
    },

    async "the ways out of a conflict: both"(scene) {
      await outOfConflict(scene, "keepBoth", (typed, proposed) => [typed, ...proposed], "accepted");
    },

    async "a save changes nothing about what is held; a formatter that runs then moves it, and makes conflicts where it is its line"(
      scene,
    ) {
      const { editor, document, path, agent } = await offered(scene);
      await scene.formats(document, (line) =>
        line.replace(/^ {2}(?=return "Bye)/, "\t").replace(/^greet/, "// once\ngreet"),
      );
      await scene.go(editor, "Hello");
      await scene.extension.accept();
      await scene.has(document, withHunks(1));
      assert.ok(await document.save());
      const formatted = changed(
        withHunks(1),
        [9, 10, ["// once", 'greet("world");']],
        [6, 7, ['\treturn "Bye, " + name;']],
      );
      await scene.has(document, formatted);
      assert.equal(
        scene.onDisk(path),
        formatted.join("\n"),
        "what is accepted is saved, what is held is not",
      );
      await scene.shows(document, ["2 conflicted 6-7", "3 held 11-11"]);
      await scene.reads(agent, document);
      assert.equal(document.isDirty, false);
    },

    async "an acceptance of another document is not put off by the one in front"(scene) {
      const { document, edited } = await offered(scene);
      await scene.show("other.js", SAVED);
      await scene.extension.acceptHunk(document.uri, edited.edit, 2);
      await scene.has(document, withHunks(2));
      await scene.shows(document, ["1 held 2-3", "3 held 11-11"]);
      assert.ok(
        vscode.window.activeTextEditor?.document.fileName.endsWith("other.js"),
        "and the other stays in front",
      );
    },

    async "saved, closed and opened again: its held edits wait, and can be decided"(scene) {
      const { document, path, agent, edited } = await offered(scene);
      assert.ok(await document.save());
      await scene.closeEditor(document);
      await scene.untilClosed(agent, path);
      const listed = await agent.call("list_edits", { path });
      assert.ok(listed.text.includes(edited.edit), listed.text);
      const again = await vscode.workspace.openTextDocument(path);
      const editor = await vscode.window.showTextDocument(again);
      await scene.shows(again, HELD);
      await scene.go(editor, "Bye");
      await scene.extension.accept();
      await scene.has(again, withHunks(2));
      await scene.reads(agent, again);
    },

    async "two agents at once, in one document and in two: each hunk is its own agent's, in its place"(
      scene,
    ) {
      const first = await scene.show("first.js", SAVED);
      const second = await scene.show("second.js", SAVED, { viewColumn: vscode.ViewColumn.Beside });
      const [claude, codex] = [await scene.agent("claude-code"), await scene.agent("codex")];
      const reads = await Promise.all([
        scene.reads(claude, first.document),
        scene.reads(codex, first.document),
        scene.reads(codex, second.document),
      ]);
      await Promise.all([
        claude.edit(first.document.uri.fsPath, reads[0], [
          ["replace", "Hello", "  return `Hello, ${name}!`;"],
        ]),
        codex.edit(first.document.uri.fsPath, reads[1], [["replace", "Bye", "  return `Bye, ${name}.`;"]]),
        codex.edit(second.document.uri.fsPath, reads[2], [["delete", "// the end"]]),
      ]);
      await scene.shows(first.document, ["1 held 1-2", "1 held 5-6"]);
      await scene.shows(second.document, ["1 held 9-10"]);
      assert.deepEqual(scene.extension.agents(first.document), ["claude-code", "codex"]);
      assert.deepEqual(scene.extension.agents(second.document), ["codex"]);
      await scene.extension.acceptAll();
      await scene.has(
        first.document,
        changed(FILE, [5, 6, ["  return `Bye, ${name}.`;"]], [1, 2, ["  return `Hello, ${name}!`;"]]),
      );
      await scene.has(second.document, FILE.slice(0, -1));
      await scene.shows(first.document, []);
      await scene.shows(second.document, []);
    },

    async "a decision that was made is taken back"(scene) {
      const { document, edited } = await offered(scene);
      await scene.extension.rejectHunk(document.uri, edited.edit, 2);
      await scene.shows(document, ["1 held 2-3", "3 held 10-10"]);
      await scene.extension.reopenDecision();
      await scene.shows(document, HELD);
    },

    async "an agent that withdraws its edit leaves nothing to decide"(scene) {
      const { document, agent, edited } = await offered(scene);
      await agent.call("withdraw_edit", { edit_id: edited.edit });
      await scene.shows(document, []);
      assert.deepEqual(linesOf(document), UNSAVED);
    },
  },
} satisfies Suite<Scene>;

async function outOfConflict(
  scene: Scene,
  way: "keepMine" | "takeTheirs" | "keepBoth",
  stays: (typed: string, proposed: string[]) => string[],
  outcome: string,
): Promise<void> {
  const { editor, document, agent, edited } = await offered(scene);
  await scene.go(editor, "Bye", "end");
  await scene.type("//no");
  await scene.shows(document, ["1 held 2-3", "2 conflicted 6-7", "3 held 10-10"]);
  const before = linesOf(document);
  await scene.extension.decide(document.uri, edited.edit, 2, { decision: way });
  const proposed = withHunks(2).slice(6, 8);
  const after = changed(before, [6, 7, stays(before[6]!, proposed)]);
  await scene.has(document, after, way);
  const shift = after.length - before.length;
  await scene.shows(document, ["1 held 2-3", `3 held ${10 + shift}-${10 + shift}`]);
  await agent.hears(edited.edit, `hunk 2 · ${outcome}`);
  if (way === "keepMine") return;
  await scene.undo();
  await scene.has(document, before, "one undo takes it back");
  await scene.shows(document, ["1 held 2-3", "2 conflicted 6-7", "3 held 10-10"]);
}
