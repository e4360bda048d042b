/** A window whose settings name a program that is not there. */
import { strict as assert } from "node:assert";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { SAVED } from "./greeting.ts";
import type { Scene } from "./scene.ts";

export default {
  heading: "without a binary",
  tests: {
    async "it is said in one sentence that names the setting, with a button that helps"(scene) {
      const { kind, sentence, helps } = await scene.failure();
      assert.equal(kind, "missing");
      assert.match(
        sentence,
        /^hashline: The setting hashline\.binary says .*nowhere\/hashline, which is no program/,
      );
      assert.deepEqual(helps, ["setBinary"]);
      assert.deepEqual(scene.extension.statusBar(), { text: "$(error) Hashline", tooltip: sentence });
    },

    async "texts are the person's as ever, and agents work on the disk"(scene) {
      const editor = await scene.show("greet.js", SAVED);
      await scene.go(editor, "// the end", "end");
      await scene.type("!");
      const agent = await scene.agent();
      const path = editor.document.uri.fsPath;
      const read = await agent.read(path);
      assert.ok(!read.text.includes(" Open in "), read.text);
      assert.ok(await editor.document.save());
      assert.equal(scene.onDisk(path), `${SAVED}!`);
    },

    async "once the setting names a good one, it runs, without a reload"(scene) {
      await scene.useBinary(process.env.HASHLINE_SIDECAR!);
      await until(
        () => scene.extension.state().kind === "running",
        () => `it runs: ${JSON.stringify(scene.extension.state())}`,
      );
      assert.equal(
        scene.extension.statusBar(),
        undefined,
        "nothing is said where there is nothing to decide",
      );
      const { document } = await scene.show("late.js", SAVED);
      await scene.reads(await scene.agent(), document);
    },
  },
} satisfies Suite<Scene>;
