import assert from "node:assert/strict";
import { test } from "node:test";
import { type Node, shownOf, treeOf } from "../src/review/tree";
import { conflicted, edit, hunk, list, reviewOf } from "./fixtures";

const nameOf = (uri: string) => uri.slice("file:///p/".length);

/** The tree as an outline. */
function outline(nodes: readonly Node[], depth = 0): string[] {
  return nodes.flatMap((node) => [
    `${"  ".repeat(depth)}${node.label} (${node.description}) ${node.context}`,
    ...outline(node.children, depth + 1),
  ]);
}

test("agent, conversation, file, hunk", () => {
  const review = reviewOf(
    list([
      edit("a", [
        hunk(),
        hunk({ number: 2, lines: { start: 7, end: 7 }, removed: [], proposed: ["", "  x"] }),
      ]),
    ]),
    list([edit("b", [hunk({ state: "inText" })])], { uri: "file:///p/b.js" }),
    list([edit("c", [conflicted()], { agent: "codex", conversation: "other", connection: "c2" })], {
      uri: "file:///p/c.js",
    }),
  );
  assert.deepEqual(outline(treeOf(review.all(), nameOf)), [
    "claude-code (3 hunks) agent.held",
    "  Conversation conv (3 hunks in 2 files) conversation.held",
    "    a.js (2 hunks) file.held",
    "      TWO (line 2 · +1 −1) hunk.held",
    "      x (at line 8 · +2) hunk.held",
    "    b.js (1 hunk) file.inText",
    "      TWO (line 2 · +1 −1 · in the text) hunk.inText",
    "codex (1 hunk, 1 conflicted) agent.held",
    "  Conversation other (1 hunk in 1 file, 1 conflicted) conversation.held",
    "    c.js (1 hunk, 1 conflicted) file.held",
    "      TWO (line 2 · +1 −1 · conflicted) hunk.conflicted",
  ]);
});

test("conversations of one call each are shown by their connection, and decided about one by one", () => {
  const review = reviewOf(
    list([
      edit("a", [hunk()], { conversation: "conv_1", connection: "x" }),
      edit("b", [hunk()], { conversation: "conv_2", connection: "x" }),
      edit("c", [hunk()], { conversation: "conv_3", connection: "y" }),
      edit("d", [hunk()], { conversation: "named", connection: "y" }),
      edit("e", [hunk()], { conversation: "named", connection: "y" }),
    ]),
  );
  const conversations = treeOf(review.all(), nameOf)[0]?.children ?? [];
  assert.deepEqual(
    conversations.map((node) => node.targets.map((target) => target.conversation)),
    [["conv_1", "conv_2"], ["conv_3"], ["named"]],
  );
});

test("a conversation without a name of its own is called by the time when it began", () => {
  const began = new Date(2026, 1, 3, 9, 5).getTime();
  const review = reviewOf(
    list([
      edit("a", [hunk()], { conversation: `conv_${began + 60_000}_0123abcd` }),
      edit("b", [hunk()], { conversation: `conv_${began}_0123abcd` }),
    ]),
  );
  assert.deepEqual(
    treeOf(review.all(), nameOf)[0]?.children.map((node) => node.label),
    ["Conversation of 09:05"],
  );
});

test("a decision is about what the node holds", () => {
  const review = reviewOf(list([edit("a", [hunk()]), edit("b", [hunk({ lines: { start: 5, end: 6 } })])]));
  const [agent] = treeOf(review.all(), nameOf);
  const file = agent?.children[0]?.children[0];
  const uri = "file:///p/a.js";
  assert.deepEqual(agent?.targets, [{ conversation: "conv" }]);
  assert.deepEqual(file?.targets, [
    { uri, edit: "a" },
    { uri, edit: "b" },
  ]);
  assert.deepEqual(file?.children[1]?.targets, [{ uri, edit: "b", hunk: 1 }]);
});

test("what is decided elsewhere, under way or lost says so", () => {
  const review = reviewOf(
    list([edit("a", [hunk()])], { readOnly: true, owner: "Neovim" }),
    list([edit("b", [hunk({ deciding: true }), conflicted({ number: 2, lines: null, ways: ["reject"] })])], {
      uri: "file:///p/b.js",
    }),
    list([edit("c", [hunk({ file: "remove the file", lines: null })])], { uri: "file:///p/c.js" }),
  );
  const lines = outline(treeOf(review.all(), nameOf));
  assert.deepEqual(lines.slice(2), [
    "    a.js (1 hunk, decided in Neovim) file.readOnly",
    "      TWO (line 2 · +1 −1) hunk.readOnly",
    "    b.js (2 hunks, 1 conflicted) file.held",
    "      TWO (line 2 · +1 −1 · deciding…) hunk.deciding",
    "      TWO (place lost · +1 −1 · conflicted) hunk.lost",
    "    c.js (1 hunk) file.held",
    "      remove the file () hunk.held",
  ]);
});

test("ids last: one more hunk changes none of them", () => {
  const ids = (nodes: readonly Node[]): string[] => nodes.flatMap((node) => [node.id, ...ids(node.children)]);
  const before = ids(treeOf(reviewOf(list([edit("a", [hunk()])])).all(), nameOf));
  const more = reviewOf(list([edit("a", [hunk({ number: 2, lines: { start: 0, end: 1 } }), hunk()])]));
  const after = new Set(ids(treeOf(more.all(), nameOf)));
  assert.deepEqual(
    before.filter((id) => !after.has(id)),
    [],
  );
  assert.equal(after.size, before.length + 1);
});

test("what is shown changes with a place, and not with another list of the same", () => {
  const shown = (start: number, version: number) =>
    shownOf(
      treeOf(
        reviewOf(list([edit("a", [hunk({ lines: { start, end: start + 1 } })])], { version })).all(),
        nameOf,
      ),
    );
  assert.equal(shown(1, 1), shown(1, 2));
  assert.notEqual(shown(1, 1), shown(2, 1));
});
