/** Much at once: a person at full speed beside an agent, and hundreds of hunks over many files. */
import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import { pause, until } from "../patience.ts";
import type { Suite } from "../report.ts";
import { linesOf, type Scene } from "./scene.ts";
import { now, Turns } from "./turns.ts";
import { report } from "./window.ts";

const KEYS = 100;
const KEY_MS = 40; // between two of them
const PLACES = 20;
const FILES = 50;
const HUNKS = 10; // in each of them
const AT_ONCE = 400; // hunks of one document
const TENTH_MS = 100; // between two keys at ten a second
const PATIENT_MS = 500; // where a person would think that it hangs

export default {
  heading: "crowd",
  tests: {
    async "100 keys while an agent edits 20 places at once: no character is lost, no edit misplaced"(scene) {
      await scene.configure("mode.open", "apply");
      await typedThrough(scene, (document, placed) =>
        until(() => placed(document) === PLACES, `${PLACES} places in the text`, 30_000),
      );
    },

    async "100 keys while 20 places are offered one by one and accepted: the same"(scene) {
      await typedThrough(scene, async (document, placed) => {
        for (const began = Date.now(); placed(document) < PLACES; ) {
          assert.ok(Date.now() - began < 40_000, `only ${placed(document)} of ${PLACES} are in the text`);
          const offered = scene.extension.hunksOf(document.uri).some((hunk) => !hunk.endsWith("deciding"));
          if (offered) await scene.extension.acceptFile();
          await pause(20);
        }
      });
    },

    async "400 hunks are accepted at once while the person types ten keys a second: the same"(scene) {
      const lines = Array.from({ length: AT_ONCE }, (_, n) => [`old ${n}.`, "between", "", "between"]).flat();
      const editor = await scene.show("at_once.txt", ["typed: ", ...lines, "the end"].join("\n"));
      const { document } = editor;
      const agent = await scene.agent();
      const read = await scene.reads(agent, document);
      const edits = Array.from({ length: AT_ONCE }, (_, n) => ["replace", `old ${n}.`, `NEW ${n}.`] as const);
      await agent.edit(document.uri.fsPath, read, edits);
      const left = () => scene.extension.hunksOf(document.uri).length;
      await until(
        () => left() === AT_ONCE,
        () => `${left()} hunks of ${AT_ONCE}`,
      );
      await scene.go(editor, "typed: ", "end");
      const keys: number[] = [];
      let over = false;
      const person = async () => {
        while (!over) {
          keys.push(now());
          await Promise.all([vscode.commands.executeCommand("type", { text: "k" }), pause(TENTH_MS)]);
        }
      };
      const turns = await Turns.during(async () => {
        const typing = person();
        try {
          await pause(5 * TENTH_MS);
          await scene.extension.acceptFile();
          await until(
            () => left() === 0,
            () => `${left()} hunks are left, the first ${scene.extension.hunksOf(document.uri)[0]}`,
          );
          await pause(5 * TENTH_MS);
        } finally {
          over = true;
          await typing;
        }
      });
      const text = ["typed: ", ...lines, "the end"].join("\n").replaceAll("old ", "NEW ");
      assert.equal(document.getText(), text.replace("typed: ", `typed: ${"k".repeat(keys.length)}`));
      await scene.reads(agent, document);
      report.say(`     ${AT_ONCE} hunks accepted beside ${keys.length} keys; ${inTurns(turns, keys)}`);
    },

    async "500 hunks over 50 files: only what is seen is drawn, going and deciding stay quick"(scene) {
      await scene.configure("mode.disk", "propose");
      const names = Array.from({ length: FILES }, (_, n) => `crowd/file${String(n).padStart(2, "0")}.txt`);
      const lines = Array.from({ length: 40 * HUNKS }, (_, row) =>
        row % 40 === 20 ? `place ${row}` : `line ${row}`,
      );
      const paths = names.map((name) => scene.write(name, lines.join("\n")));
      const editor = await scene.show("crowd/file00.txt", lines.join("\n"));
      const agent = await scene.agent();
      await scene.reads(agent, editor.document);
      let began = performance.now();
      for (const path of paths) {
        const read = await agent.read(path);
        const places = lines.filter((line) => line.startsWith("place"));
        await agent.edit(
          path,
          read,
          places.map((place) => ["replace", place, `NEW ${place}\nand more`] as const),
        );
      }
      await until(
        () => scene.extension.undecided() === FILES * HUNKS,
        () => `${scene.extension.undecided()} hunks of ${FILES * HUNKS}`,
        40_000,
      );
      const told = performance.now() - began;

      const { places, bands } = await until(() => scene.extension.drawn(editor), "what is seen is drawn");
      const drawn = [...places, ...bands];
      const seen = editor.visibleRanges.reduce(
        (sum, range) => sum + range.end.line - range.start.line + 1,
        0,
      );
      assert.ok(drawn.length > 0, "hunks in view are drawn");
      await until(
        () => scene.extension.inTree() === FILES * HUNKS,
        () => `${scene.extension.inTree()} hunks in the tree`,
      );
      assert.ok(
        drawn.length <= Math.ceil(seen / 40) + 2,
        `${drawn.length} hunks are drawn in ${seen} visible lines`,
      );

      began = performance.now();
      for (let step = 0; step < 30; step++) await scene.extension.next();
      const going = (performance.now() - began) / 30;
      assert.ok(!scene.tabs().every((tab) => tab === "file00.txt"), "it goes on in the next file");
      assert.ok(going < PATIENT_MS, `the next one takes ${going} ms`);

      const first = await scene.show("crowd/file00.txt", lines.join("\n"));
      await scene.go(first, "line 0", "end");
      const keys: number[] = [];
      const turns = await Turns.during(async () => {
        while (keys.length < KEYS) {
          keys.push(now());
          await Promise.all([vscode.commands.executeCommand("type", { text: "k" }), pause(TENTH_MS)]);
        }
      });
      assert.equal(first.document.lineAt(0).text, `line 0${"k".repeat(KEYS)}`);

      began = performance.now();
      await scene.extension.reviewAll();
      const right = await until(
        () => {
          const front = vscode.window.activeTextEditor;
          return front?.document.uri.scheme === "hashline-proposed" ? front : undefined;
        },
        "all of it is on one screen",
        40_000,
      );
      const reviewed = performance.now() - began;
      const { path } = right.document.uri;
      began = performance.now();
      await scene.extension.acceptFileOf(editor.document.uri);
      await until(
        () => vscode.window.activeTextEditor?.document.uri.path !== path,
        "the next file is in front",
        40_000,
      );
      const followed = performance.now() - began;

      began = performance.now();
      await scene.extension.rejectAll();
      await until(
        () => scene.extension.undecided() === 0,
        () => `${scene.extension.undecided()} are left`,
        40_000,
      );
      const decided = performance.now() - began;
      for (const file of paths) assert.equal(scene.onDisk(file), lines.join("\n"));
      report.say(
        `     500 hunks over 50 files: made and told in ${told.toFixed(0)} ms, the next one in ${going.toFixed(0)} ms each, ` +
          `all on one screen in ${reviewed.toFixed(0)} ms, the next file there in ${followed.toFixed(0)} ms, all rejected in ${decided.toFixed(0)} ms; ${drawn.length} drawn in ${seen} visible lines; ` +
          `beside ${keys.length} keys ${inTurns(turns, keys)}`,
      );
    },
  },
} satisfies Suite<Scene>;

/** What a person who types waits for. */
function inTurns(turns: Turns, keys: readonly number[]): string {
  const ms = (time: number) => `${time.toFixed(1)} ms`;
  return (
    `the longest turn of the extension host is ${ms(turns.longest())}, what the extension takes of one at most ${ms(turns.longestOwn())}, ` +
    `after a key ${ms(turns.keyWaits(keys))} (p99)`
  );
}

/** A person types on, in lines that no edit is about, while an agent looks and edits again and again. */
async function typedThrough(
  scene: Scene,
  land: (
    document: vscode.TextDocument,
    placed: (document: vscode.TextDocument) => number,
  ) => Promise<unknown>,
): Promise<void> {
  const lines = Array.from({ length: PLACES }, (_, n) => [`old ${n}.`, "between"]).flat();
  const editor = await scene.show("typing.txt", ["typed: ", ...lines, "the end"].join("\n"));
  const { document } = editor;
  const agent = await scene.agent();
  await scene.reads(agent, document);
  await scene.go(editor, "typed: ", "end");
  const placed = (text: vscode.TextDocument) =>
    linesOf(text).filter((line) => line.startsWith("NEW ")).length;

  const keys = Array.from({ length: KEYS }, (_, n) =>
    n % 12 === 11 ? "\n" : String.fromCharCode(97 + (n % 26)),
  );
  let typing = true;
  let made = 0; // while the person typed
  const work = async () => {
    for (let n = 0; n < PLACES; n++) {
      // One look, one edit: what was typed in between is carried by the sidecar.
      const read = await agent.read(document.uri.fsPath);
      await agent.edit(document.uri.fsPath, read, [["replace", `old ${n}.`, `NEW ${n}`]]);
      if (typing) made += 1;
    }
  };
  const person = async () => {
    for (const key of keys) {
      await Promise.all([vscode.commands.executeCommand("type", { text: key }), pause(KEY_MS)]);
    }
    typing = false;
  };
  const working = work();
  let during = 0;
  const landing = land(document, (text) => {
    if (typing) during = placed(text);
    return placed(text);
  });
  await Promise.all([working, person(), landing]);
  const expected = `typed: ${keys.join("")}\n${lines.map((line) => line.replace(/old (\d+)\./, "NEW $1")).join("\n")}\nthe end`;
  assert.equal(document.getText(), expected);
  assert.ok(made > 0, "the agent edits while the person types");
  report.say(
    `     ${KEYS} keys, ${PLACES} edits: ${made} made and ${during} in the text before the last key`,
  );
  await scene.reads(agent, document);
}
