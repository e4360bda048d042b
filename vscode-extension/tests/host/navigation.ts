/** Going from hunk to hunk, also where there is no file to show. */
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { SAVED } from "./greeting.ts";
import { offered } from "./offer.ts";
import type { Scene } from "./scene.ts";

const inFront = () => vscode.window.activeTextEditor?.document.uri;

export default {
  heading: "navigation",
  tests: {
    async "the next one passes a file that is to be made and one that was removed"(scene) {
      const agent = await scene.agent();
      const [made, removed] = [scene.path("b.js"), scene.write("c.js", SAVED)];
      const first = await scene.show("a.js", SAVED);
      const last = await scene.show("d.js", SAVED);
      for (const { document } of [first, last]) {
        const read = await scene.reads(agent, document);
        await agent.edit(document.uri.fsPath, read, [["replace", "Hello", "  // hello"]]);
        await scene.shows(document, ["1 held 1-2"]);
      }
      await agent.call("delete_file", { path: removed });
      await until(() => !existsSync(removed), "it is removed at once");
      await scene.setsDiskMode("propose", agent);
      await agent.call("write_file", { path: made, content: "made();\n" });
      await until(() => scene.extension.hunksOf(vscode.Uri.file(made)).length > 0, "it is offered");

      await vscode.window.showTextDocument(first.document);
      const seen: string[] = [];
      // Once around, and on to the second again.
      const count = scene.extension.undecided();
      for (let step = 0; step <= count; step++) {
        await scene.extension.next();
        seen.push(inFront()?.path.split("/").at(-1) ?? "nothing");
      }
      assert.ok(seen.includes("d.js"), `past all that have no file: ${seen}`);
      assert.ok(seen.includes("b.js"), `what is to be made is shown: ${seen}`);
      assert.ok(seen.lastIndexOf("a.js") > seen.indexOf("d.js"), `and around: ${seen}`);
    },

    async "from a comparison the next one is the next in it"(scene) {
      const { document } = await offered(scene);
      await scene.show("zzz.js", SAVED);
      await vscode.window.showTextDocument(document, { preview: false });
      await scene.extension.compare();
      const right = await until(() => {
        const editor = vscode.window.activeTextEditor;
        return editor?.document.uri.scheme === "hashline-proposed" ? editor : undefined;
      }, "the right side");
      right.selection = new vscode.Selection(0, 0, 0, 0);
      const rows: number[] = [];
      for (let step = 0; step < 3; step++) {
        await scene.extension.next();
        assert.equal(inFront()?.scheme, "hashline-proposed", "it stays in front");
        rows.push(vscode.window.activeTextEditor!.selection.active.line);
      }
      assert.deepEqual(rows, [2, 6, 11]);
      await scene.extension.accept();
      await scene.shows(document, ["1 held 2-3", "2 held 6-7"], "the hunk at the cursor is meant");
    },
  },
} satisfies Suite<Scene>;
