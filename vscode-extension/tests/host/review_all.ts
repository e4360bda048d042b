/** All that is to be decided, on one screen. */
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { applied } from "./apply.ts";
import { SAVED, withHunks } from "./greeting.ts";
import { offered } from "./offer.ts";
import { linesOf, type Scene } from "./scene.ts";

interface Side {
  readonly scheme: string;
  readonly path: string;
}

/** A tab that compares several files: VS Code has no name for it in its stable API. */
const reviews = () =>
  vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(({ input }) => typeof input === "object" && input !== null && "textDiffs" in input);

/** What is compared that has two sides, as VS Code tells of nothing else: "greet.js", "moved.js from mv.js", "old.js deleted". */
function files(): string[] {
  const { textDiffs } = reviews()[0]!.input as { textDiffs: { original: Side; modified: Side }[] };
  const name = ({ path }: Side) =>
    (path.split("/").at(-1) ?? "") + (path.includes("/(deleted)/") ? " deleted" : "");
  return textDiffs.map(({ original, modified }) =>
    name(original) === name(modified) ? name(modified) : `${name(modified)} from ${name(original)}`,
  );
}

async function opened(scene: Scene): Promise<vscode.Tab> {
  await scene.extension.reviewAll();
  return until(
    () => reviews().find((tab) => tab.isActive),
    () => `a review among ${scene.tabs()}`,
  );
}

/** The right side that has the cursor, once that is on this row. */
async function cursorOnTheRight(row: number): Promise<vscode.TextEditor> {
  const right = await until(() => {
    const editor = vscode.window.activeTextEditor;
    return editor?.document.uri.scheme === "hashline-proposed" ? editor : undefined;
  }, "the right side has the cursor");
  right.selection = new vscode.Selection(row, 0, row, 0);
  return right;
}

/** The text of a side, as VS Code is given it. */
async function side(scheme: string, name: string): Promise<string> {
  const uri = await until(() => {
    const found = vscode.workspace.textDocuments.find(
      (document) => document.uri.scheme === scheme && document.uri.path.endsWith(`/${name}`),
    );
    return found?.uri;
  }, `${name} as ${scheme}`);
  return (await vscode.workspace.openTextDocument(uri)).getText();
}

export default {
  heading: "review all",
  tests: {
    async "files that were made, removed and given another name at once are there, with what was removed, and are undone from there"(
      scene,
    ) {
      const { document } = await scene.show("greet.js", SAVED);
      const agent = await scene.agent();
      await scene.reads(agent, document);
      await scene.setsDiskMode("apply", agent);
      const paths = { old: scene.write("old.js", SAVED), mv: scene.write("mv.js", SAVED) };
      const made = scene.path("new.js");
      const moved = scene.path("moved.js");
      await agent.call("write_file", { path: made, content: "made();\n" });
      await agent.call("delete_file", { path: paths.old });
      await agent.call("move_file", { source: paths.mv, destination: moved });
      await until(
        () => scene.extension.undecided() === 4,
        () => `they are to be decided: ${scene.extension.files()}`,
      );
      const tab = await opened(scene);
      assert.match(tab.label, /^Review: claude-code · 4 hunks · \+1/);
      await scene.extension.statusBarSays("$(request-changes) 4 in 3 files · claude-code");
      await until(() => scene.extension.files().join().includes("→"), "the old name is known");
      assert.deepEqual(scene.extension.files(), [
        "mv.js → moved.js ()",
        "new.js (created · +1)",
        "old.js (deleted)",
      ]);
      assert.deepEqual(files(), ["moved.js from mv.js", "old.js deleted"]);
      assert.equal(await side("hashline-base", "old.js"), SAVED);
      assert.equal(await side("hashline-proposed", "new.js"), "made();\n");

      await scene.extension.rejectFile(vscode.Uri.file(made));
      await until(() => !existsSync(made), "it is gone again");
      await scene.extension.rejectFile(vscode.Uri.file(paths.old));
      await until(() => existsSync(paths.old), "it is back");
      await scene.extension.rejectFile(vscode.Uri.file(moved));
      await until(() => existsSync(paths.mv), "it has its old name");
      await until(
        () => reviews().length === 0,
        () => `with nothing to decide the review closes: ${scene.tabs()}`,
      );
    },

    async "files that are to be made, removed and given another name, and nothing is done yet"(scene) {
      const agent = await scene.agent();
      await scene.setsDiskMode("propose", agent);
      const old = scene.write("old.js", SAVED);
      const mv = scene.write("mv.js", SAVED);
      await agent.call("write_file", { path: scene.path("new.js"), content: "made();\n" });
      await agent.call("delete_file", { path: old });
      await agent.call("move_file", { source: mv, destination: scene.path("moved.js") });
      const listed = () =>
        [scene.path("new.js"), old, mv].map((path) => scene.extension.hunksOf(vscode.Uri.file(path)));
      await until(() => listed().every((hunks) => hunks.length > 0), "they are to be decided");
      await opened(scene);
      assert.deepEqual(files(), ["moved.js from mv.js", "old.js deleted"]);
      assert.equal(await side("hashline-base", "old.js"), SAVED);
      assert.equal(await side("hashline-proposed", "new.js"), "made();\n");
      assert.ok(existsSync(old) && existsSync(mv) && !existsSync(scene.path("new.js")));
      await scene.extension.acceptAll();
      await until(() => !existsSync(old) && existsSync(scene.path("moved.js")), "all of it is done");
      assert.equal(scene.onDisk(scene.path("new.js")), "made();\n");
    },

    async "it follows decisions: a hunk leaves its text, a file that is done leaves it, and nothing that an agent does moves it"(
      scene,
    ) {
      const other = await scene.show("zz.js", SAVED);
      const { document, agent, edited } = await offered(scene);
      const path = other.document.uri.fsPath;
      await agent.edit(path, await scene.reads(agent, other.document), [["delete", "// the end"]]);
      await scene.shows(other.document, ["1 held 9-10"]);
      const tab = await opened(scene);
      assert.match(tab.label, /^Review: claude-code · 4 hunks · \+4 −3/);
      assert.deepEqual(files(), ["greet.js", "zz.js"]);

      await scene.extension.rejectHunk(document.uri, edited.edit, 2);
      await until(
        async () => !(await side("hashline-proposed", "greet.js")).includes("const bye"),
        "it follows",
      );
      assert.deepEqual(files(), ["greet.js", "zz.js"]);
      assert.equal(reviews()[0], tab, "it is the same one");

      const third = scene.write("third.js", SAVED);
      await agent.edit(third, await agent.read(third), [["delete", "// the end"]]);
      await until(() => scene.extension.undecided() === 4, "an agent goes on");
      assert.equal(reviews()[0], tab, "nothing moves");

      await scene.extension.acceptFileOf(document.uri);
      await until(
        () => reviews().length === 1 && files().join() === "third.js,zz.js",
        () => `the file that is done is gone, the new one is there: ${files()}`,
      );
      assert.ok(linesOf(document).some((line) => line.includes("Hello, ${name}")));
      assert.ok(reviews()[0]?.isActive, "it is in front");
    },

    async "a conflict is drawn in it once nothing else of its file is to be decided, and its ways out are offered there"(
      scene,
    ) {
      const { editor, document, edited } = await offered(scene);
      await scene.go(editor, "Bye", "end");
      await scene.type("//no");
      await scene.shows(document, ["1 held 2-3", "2 conflicted 6-7", "3 held 10-10"]);
      const tab = await opened(scene);
      assert.match(tab.label, /^Review: claude-code · 3 hunks, 1 conflicted/);
      await scene.extension.acceptHunk(document.uri, edited.edit, 1);
      await scene.extension.rejectHunk(document.uri, edited.edit, 3);
      const drawn = await until(() => {
        const shown = vscode.window.visibleTextEditors.find((one) => one.document === document);
        return shown && scene.extension.drawn(shown);
      }, "the file itself is compared now, with its conflict");
      assert.deepEqual(
        drawn.bands.map(({ kind, start, end }) => [kind, start, end]),
        [["conflicted", 6, 7]],
      );
      await scene.extension.next();
      assert.equal(vscode.window.activeTextEditor?.document, document);
      assert.equal(vscode.window.activeTextEditor?.selection.active.line, 6);
      await scene.extension.decide(document.uri, edited.edit, 2, { decision: "keepBoth" });
      await scene.shows(document, []);
    },

    async "what is in the text already is kept and undone at the cursor, and typed into; the review has nothing unsaved of it"(
      scene,
    ) {
      const { editor, edited } = await applied(scene);
      const { document } = editor;
      await opened(scene);
      const right = await cursorOnTheRight(6);
      assert.equal(right.document.getText(), document.getText());
      await scene.extension.reject();
      await scene.has(document, withHunks(1, 3), "undone");
      await scene.shows(document, ["1 inText 2-3", "3 inText 10-11"]);
      await until(() => right.document.getText() === document.getText(), "it follows");
      assert.ok(await right.edit((edit) => edit.insert(new vscode.Position(3, 1), " // mine")));
      assert.equal(await right.document.save(), true);
      await until(() => linesOf(document)[3] === "} // mine", "it is typed into the file");
      await scene.shows(document, ["1 inText 2-3", "3 inText 10-11"], "and nothing is decided by it");
      await scene.extension.acceptHunk(document.uri, edited.edit, 1);
      await scene.extension.acceptHunk(document.uri, edited.edit, 3);
      await until(() => reviews().length === 0, "it closes, though the file is not saved");
      assert.ok(document.isDirty);
    },

    async "by the cursor in it: the hunk that is meant there is decided, and going on stays in it"(scene) {
      const { document } = await offered(scene);
      await opened(scene);
      await cursorOnTheRight(6);
      await scene.extension.accept();
      await scene.shows(document, ["1 held 2-3", "3 held 11-11"]);
      await scene.extension.next();
      assert.ok(reviews()[0]?.isActive, "it stays in front");
    },
  },
} satisfies Suite<Scene>;
