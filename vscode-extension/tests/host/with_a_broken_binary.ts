/** Windows whose settings name a program that is no sidecar, or not one for this extension. */
import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import type { Scene } from "./scene.ts";

export default {
  heading: "with a broken binary",
  tests: {
    async "one that ends at once is named, and the log is offered"(scene) {
      const { kind, sentence, helps } = await scene.failure();
      assert.equal(kind, "broken");
      assert.match(sentence, /broken\/hashline did not start as a sidecar/);
      assert.equal(helps[0], "showLog");
      assert.equal(scene.extension.statusBar()?.tooltip, sentence);
    },

    async "one that speaks no protocol of this extension's is named with its version, and what to update"(
      scene,
    ) {
      await scene.useBinary(process.env.HASHLINE_OLD!);
      const { kind, sentence } = await scene.failure("mismatched");
      assert.equal(kind, "mismatched");
      assert.match(sentence, /old\/hashline \(0\.0\.1\) does not speak this extension's protocol/);
      assert.match(sentence, /update that program\.$/);
    },

    async "one with another hash than the one that is pinned is not started; one with that hash is"(scene) {
      const binary = process.env.HASHLINE_SIDECAR!;
      const hash = `sha256:${createHash("sha256").update(readFileSync(binary)).digest("hex")}`;
      await scene.pinBinary(`sha256:${"0".repeat(64)}`);
      await scene.useBinary(binary);
      const { sentence, helps } = await scene.failure("untrusted");
      assert.ok(
        sentence.includes(`expected sha256:${"0".repeat(64)}, actual ${hash}, from the setting`),
        sentence,
      );
      assert.equal(helps[0], "setBinary");
      await scene.pinBinary(hash);
      await until(
        () => scene.extension.state().kind === "running",
        () => `it runs: ${JSON.stringify(scene.extension.state())}`,
      );
      await scene.pinBinary("");
    },
  },
} satisfies Suite<Scene>;
