import assert from "node:assert/strict";
import { test } from "node:test";
import { startingAfter, titleOf } from "../src/views/reviewAll";
import { conflicted, edit, hunk, list, reviewOf } from "./fixtures";

test("the title says whose, how many and how much", () => {
  const title = (...lists: ReturnType<typeof list>[]) => titleOf(reviewOf(...lists).all());
  const first = list([edit("a", [hunk(), hunk({ number: 2, removed: [] })])]);
  assert.equal(title(first), "Review: claude-code · 2 hunks · +2 −1");
  const other = list([edit("b", [conflicted()], { agent: "codex" })], { uri: "file:///p/b.js" });
  assert.equal(title(first, other), "Review: claude-code, codex · 3 hunks, 1 conflicted · +3 −2");
  const removal = hunk({ file: "remove the file", lines: null, removed: [], proposed: [] });
  assert.equal(title(list([edit("c", [removal])])), "Review: claude-code · 1 hunk");
});

test("what was passed over comes again last", () => {
  const files = ["a", "b", "d"].map((key) => ({ key }));
  const order = (key?: string) => startingAfter(files, key).map((file) => file.key);
  assert.deepEqual(order("c"), ["d", "a", "b"]);
  assert.deepEqual(order("b"), ["b", "d", "a"]);
  assert.deepEqual(order("z"), ["a", "b", "d"]);
  assert.deepEqual(order(), ["a", "b", "d"]);
});
