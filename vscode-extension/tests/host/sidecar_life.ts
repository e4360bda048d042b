/** The sidecar's own life: started anew, killed, and what an editor offers to agents that VS Code itself has. */
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { UNSAVED, withHunks } from "./greeting.ts";
import { HELD, offered } from "./offer.ts";
import { linesOf, type Scene } from "./scene.ts";

export default {
  heading: "sidecar",
  tests: {
    async "started anew by the person: the text is the person's, the held edits come back out of the record"(
      scene,
    ) {
      await startedAnew(scene, () => scene.extension.restart());
    },

    async "killed: it is started again by itself, with the held edits"(scene) {
      await startedAnew(scene, async (pid) => void process.kill(pid, "SIGKILL"));
    },

    async "killed, and the next one does not start: that is told"(scene) {
      await running(scene);
      const stop = `${process.env.HASHLINE_SIDECAR}.ends`;
      writeFileSync(stop, "");
      try {
        process.kill(pidOfSidecar(scene)!, "SIGKILL");
        const { kind, sentence } = await scene.failure("broken");
        assert.equal(kind, "broken");
        assert.match(sentence, /did not start as a sidecar/);
      } finally {
        rmSync(stop);
      }
      await scene.extension.restart();
      await running(scene);
    },

    async "killed four times in a row: it is not started a fifth time, and that is told"(scene) {
      await scene.extension.restart();
      let last: number | undefined;
      for (let time = 0; time < 4; time++) {
        last = await running(scene, last);
        process.kill(last, "SIGKILL");
      }
      const { sentence } = await scene.failure("broken");
      assert.match(sentence, /ended by itself 4 times in a row/);
      await scene.extension.restart();
      await running(scene);
    },
  },
} satisfies Suite<Scene>;

async function startedAnew(scene: Scene, how: (pid: number) => Promise<void>): Promise<void> {
  const { editor, document, agent } = await offered(scene);
  const before = pidOfSidecar(scene);
  assert.ok(before !== undefined, "it runs");
  const waited = agent.call("await_review", { timeout_s: 40 }).catch(() => undefined);
  await until(
    () => scene.extension.statusBar()?.text.endsWith("claude-code waits"),
    () => `the agent waits: ${scene.extension.statusBar()?.text}`,
  );
  await how(before);
  await until(
    () => {
      const now = pidOfSidecar(scene);
      return now !== undefined && now !== before;
    },
    () => `another process; it is ${JSON.stringify(scene.extension.state())}`,
  );
  await waited;
  assert.deepEqual(linesOf(document), UNSAVED);
  await scene.shows(document, HELD);
  await scene.extension.statusBarSays("$(request-changes) 3 in 1 file · claude-code");
  await scene.reads(agent, document);
  await scene.go(editor, "// the end", "end");
  await scene.type("!");
  await scene.go(editor, "Bye");
  await scene.extension.accept();
  const text = withHunks(2);
  await scene.has(document, [...text.slice(0, -1), `${text.at(-1)}!`]);
  await scene.shows(document, ["1 held 2-3", "3 held 11-11"]);
  await scene.reads(agent, document);
}

/** Waits until one runs, and tells agents so: another than the last, in place of which it may run before anybody could look. */
async function running(scene: Scene, last?: number): Promise<number> {
  return until(
    () => {
      const pid = pidOfSidecar(scene);
      return scene.extension.state().kind === "running" && pid !== last ? pid : undefined;
    },
    () => `it runs; it is ${JSON.stringify(scene.extension.state())}`,
    20_000,
  );
}

/** The process that tells agents that it serves this window's folder. */
function pidOfSidecar(scene: Scene): number | undefined {
  const folder = join(process.env.HASHLINE_STATE!, "sidecars");
  const pids = readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as { pid: number; roots: string[] })
    .filter(({ pid, roots }) => roots.includes(scene.root) && runs(pid))
    .map(({ pid }) => pid);
  return pids.length === 1 ? pids[0] : undefined;
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
