import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { FileNames } from "../src/views/fileNames";
import { Notice } from "../src/views/notice";
import { edit, hunk, list, reviewOf } from "./fixtures";
import { person, settings } from "./vscode";

const FILE = { lines: null, removed: [], proposed: [] };

/** Agents at work, and the notices that are shown about it. */
function watched(context: TestContext, wish: string | undefined, ...sees: string[]) {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  person.told = [];
  person.sees = sees.map((name) => `file:///p/${name}`);
  person.isFocused = true;
  settings.set("hashline.notify", wish);
  const review = reviewOf();
  const names = new FileNames(review, { patchOf: async () => "" }, (error) => assert.fail(String(error)));
  const notice = new Notice(review, names);
  context.after(() => {
    notice.dispose();
    settings.clear();
    person.sees = [];
  });
  return {
    edits: (name: string, hunks: Parameters<typeof edit>[1], said: Parameters<typeof edit>[2] = {}) =>
      review.receive(list([edit(name, hunks, said)], { uri: `file:///p/${name}`, version: null })),
    passed: (ms: number) => {
      context.mock.timers.tick(ms);
      return person.told.splice(0);
    },
  };
}

const three = [hunk(), hunk({ number: 2 }), hunk({ number: 3 })];
const made = hunk({ ...FILE, file: "make the file", state: "inText" });
const content = hunk({ number: 2, state: "inText", removed: [] });
const removed = hunk({ ...FILE, file: "remove the file", state: "inText" });

test("one notice for what comes together, which names what became of files", (context) => {
  const { edits, passed } = watched(context, undefined);
  edits("a.js", three);
  assert.deepEqual(passed(900), []);
  edits("new.js", [made, content]);
  assert.deepEqual(passed(900), [], "it is not over yet");
  edits("old.js", [removed], { agent: "codex" });
  assert.deepEqual(passed(1000), ["claude-code, codex: new.js created, old.js deleted, 3 hunks in a.js."]);
});

test("an agent that does not stop is told of all the same, and not again at once", (context) => {
  const { edits, passed } = watched(context, undefined);
  const told: string[] = [];
  for (let n = 0; n < 30; n++) {
    edits(`${n}.js`, [hunk()]);
    told.push(...passed(900));
  }
  assert.deepEqual(told, [
    "claude-code: 1 hunk in 0.js, 1 in 1.js, 1 in 2.js, 1 in 3.js and 2 more.",
    "claude-code: 1 hunk in 10.js, 1 in 11.js, 1 in 12.js, 1 in 13.js and 13 more.",
  ]);
});

test("what is decided meanwhile is not told", (context) => {
  const { edits, passed } = watched(context, undefined);
  edits("a.js", [hunk()]);
  edits("a.js", [hunk({ decision: "accepted" })]);
  assert.deepEqual(passed(1000), []);
});

test("what is before the person is told only with something else, unless they wish it or are away", (context) => {
  const { edits, passed } = watched(context, "elsewhere", "a.js");
  edits("a.js", three);
  assert.deepEqual(passed(1000), []);
  edits("b.js", [hunk()], { connection: "other" });
  assert.deepEqual(passed(20_000), ["claude-code: 1 hunk in b.js."]);
  person.isFocused = false;
  edits("a.js", [...three, hunk({ number: 4 })]);
  assert.deepEqual(passed(20_000), ["claude-code: 1 hunk in a.js."]);
});

test("what was seen to come is not told when it is out of sight", (context) => {
  const { edits, passed } = watched(context, undefined, "a.js");
  edits("a.js", three);
  edits("b.js", [hunk()]);
  person.sees = ["file:///p/b.js"];
  assert.deepEqual(passed(1000), []);
  edits("c.js", [hunk()]);
  assert.deepEqual(passed(1000), ["claude-code: 1 hunk in c.js."]);
});

test("always: what is before the person once for each connection", (context) => {
  const { edits, passed } = watched(context, "always", "a.js");
  edits("a.js", [hunk()]);
  assert.deepEqual(passed(20_000), ["claude-code: 1 hunk in a.js."]);
  edits("a.js", three);
  assert.deepEqual(passed(20_000), []);
});

test("unfocused: nothing while the person looks; never: nothing", (context) => {
  const away = watched(context, "unfocused");
  away.edits("a.js", [hunk()]);
  assert.deepEqual(away.passed(20_000), []);
  person.isFocused = false;
  away.edits("b.js", [hunk()]);
  assert.deepEqual(away.passed(20_000), ["claude-code: 1 hunk in b.js."]);
  settings.set("hashline.notify", "never");
  away.edits("c.js", [hunk()]);
  assert.deepEqual(away.passed(20_000), []);
});
