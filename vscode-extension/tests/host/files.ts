/** What agents do to files themselves: made, given another name, removed. */
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { SAVED, THREE } from "./greeting.ts";
import { linesOf, type Scene } from "./scene.ts";

const HELD = ["1 held 1-2", "2 held 5-6", "3 held 9-9"];

export default {
  heading: "files",
  tests: {
    async "a file that an agent makes: held until accepted, and gone again when that is taken back and rejected"(
      scene,
    ) {
      await scene.configure("mode.disk", "propose");
      await scene.show("beside.js", SAVED);
      const agent = await scene.agent();
      const path = scene.path("lib/made.js");
      const uri = vscode.Uri.file(path);
      const made = await agent.call("write_file", { path, content: "made();\n" });
      await until(() => scene.extension.hunksOf(uri).length > 0, "it is offered");
      assert.ok(!existsSync(path), "it is not there yet");
      await scene.extension.acceptEdit(uri, made.edit);
      await until(() => existsSync(path), "it is there");
      assert.equal(scene.onDisk(path), "made();\n");
      await until(() => scene.extension.hunksOf(uri).length === 0, "nothing is left to decide");
      await scene.extension.reopenDecision();
      await until(() => scene.extension.hunksOf(uri).length > 0, "it is to be decided again");
      await scene.extension.rejectFile(uri);
      await until(() => !existsSync(path), "it is gone again");
    },

    async "another name: accepted, the editor follows with the other edits; what is unsaved is not moved"(
      scene,
    ) {
      const editor = await scene.show("greet.js", SAVED);
      const { document } = editor;
      const path = document.uri.fsPath;
      const agent = await scene.agent();
      await agent.edit(path, await scene.reads(agent, document), THREE);
      await scene.shows(document, HELD);
      const destination = scene.path("lib/hello.js");
      const moved = await agent.call("move_file", { source: path, destination });
      await scene.shows(document, ["1 held 0-0", ...HELD]);
      await scene.go(editor, "// the end", "end");
      await scene.type(" of it");
      await scene.shows(document, ["1 held 0-0", ...HELD]);
      await scene.extension.acceptHunk(document.uri, moved.edit, 1);
      await scene.shows(document, ["1 held 0-0", ...HELD], "it is offered still");
      assert.ok(existsSync(path) && !existsSync(destination), "what is unsaved is not moved");
      assert.equal(linesOf(document).at(-1), "// the end of it");

      assert.ok(await document.save());
      await scene.extension.acceptHunk(document.uri, moved.edit, 1);
      await until(() => existsSync(destination) && !existsSync(path), "it has the new name");
      const after = await until(
        () => vscode.workspace.textDocuments.find((open) => open.uri.fsPath === destination),
        "the editor follows",
      );
      await scene.shows(after, HELD, "under the new name");
      await scene.reads(agent, after);
      assert.equal(scene.onDisk(destination), `${SAVED} of it`);
    },

    async "a removal: accepted, the file and its editor go; taken back and rejected, the file is there as it was"(
      scene,
    ) {
      const { document } = await scene.show("greet.js", SAVED);
      const path = document.uri.fsPath;
      const agent = await scene.agent();
      await scene.reads(agent, document);
      const removed = await agent.call("delete_file", { path });
      await scene.shows(document, ["1 held 0-0"]);
      await scene.extension.acceptHunk(document.uri, removed.edit, 1);
      await until(() => !existsSync(path), "it is removed");
      await until(
        () => scene.tabs().every((tab) => tab !== "greet.js"),
        () => `its tab goes: ${scene.tabs()}`,
      );
      await agent.hears(removed.edit, "· accepted");
      await scene.extension.reopenDecision();
      await until(() => scene.extension.hunksOf(document.uri).length === 1, "it is to be decided again");
      await scene.extension.rejectHunk(document.uri, removed.edit, 1);
      await until(() => existsSync(path), "it is back");
      assert.equal(scene.onDisk(path), SAVED);
    },

    async "a removal that is rejected changes nothing"(scene) {
      const { document } = await scene.show("greet.js", SAVED);
      const agent = await scene.agent();
      await scene.reads(agent, document);
      const removed = await agent.call("delete_file", { path: document.uri.fsPath });
      await scene.shows(document, ["1 held 0-0"]);
      await scene.extension.rejectHunk(document.uri, removed.edit, 1);
      await scene.shows(document, []);
      assert.equal(scene.onDisk(document.uri.fsPath), SAVED);
      await agent.hears(removed.edit, "· rejected");
    },
  },
} satisfies Suite<Scene>;
