import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { FileNames } from "../src/views/fileNames";
import { ReviewTree } from "../src/views/tree";
import { edit, hunk, list, reviewOf } from "./fixtures";

/** A tree of what is to be decided, and how often VS Code was told to ask for it again. */
function tree(context: TestContext) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const review = reviewOf();
  const names = new FileNames(review, { patchOf: async () => "rename from b.js\n" }, (error) =>
    assert.fail(String(error)),
  );
  const shown = new ReviewTree(review, names);
  let told = 0;
  shown.onDidChangeTreeData(() => told++);
  return {
    shown,
    told: () => told,
    /** An agent edits another file. */
    edited: (name: string, agent = "claude-code") => {
      review.receive(list([edit(name, [hunk()], { agent })], { uri: `file:///p/${name}.js`, version: null }));
    },
    /** An agent has given a file this name. */
    renamed: (name: string) => {
      const one = hunk({ file: `rename the file to /p/${name}.js`, lines: null, state: "inText" });
      review.receive(list([edit(name, [one])], { uri: `file:///p/${name}.js`, version: null }));
    },
    passed: () => context.mock.timers.tick(1000),
    /** The hunks in what VS Code is given. */
    asked: () => shown.getChildren().flatMap(({ entries }) => entries.map(({ name }) => name)),
  };
}

test("VS Code is told once to ask again, and then not before it has asked: while it does it forgets the rows that are drawn", (context) => {
  const { told, edited, passed, asked } = tree(context);
  edited("a");
  passed();
  assert.equal(told(), 0, "it has not asked yet, and will");
  assert.deepEqual(asked(), ["a:1"]);
  edited("b");
  passed();
  assert.equal(told(), 1);
  edited("c");
  passed();
  assert.equal(told(), 1, "it is about to ask");
  assert.deepEqual(asked(), ["a:1", "b:1", "c:1"]);
  edited("c");
  passed();
  assert.equal(told(), 1, "it has all of it");
  edited("d");
  passed();
  assert.equal(told(), 2);
  edited("e");
  assert.deepEqual(asked(), ["a:1", "b:1", "c:1", "d:1", "e:1"], "however new it is");
  passed();
  assert.equal(told(), 2);
});

test("what a file was called comes later, and VS Code is told to ask again", async (context) => {
  const { shown, told, passed, renamed } = tree(context);
  const labels = () => shown.getChildren()[0]?.children[0]?.children.map(({ label }) => label);
  renamed("a");
  assert.deepEqual(labels(), ["a.js"]);
  await new Promise(setImmediate);
  passed();
  assert.equal(told(), 1);
  assert.deepEqual(labels(), ["b.js → a.js"]);
});

test("one agent alone is shown until nothing of it is left", (context) => {
  const { shown, edited, asked, passed } = tree(context);
  edited("a");
  edited("b", "codex");
  shown.showOnly("codex");
  assert.deepEqual(asked(), ["b:1"]);
  edited("b");
  edited("b", "codex");
  passed();
  assert.equal(shown.onlyAgent, "codex", "for a moment there was none");
  edited("b");
  passed();
  assert.equal(shown.onlyAgent, undefined);
  assert.deepEqual(asked(), ["a:1", "b:1"]);
});
