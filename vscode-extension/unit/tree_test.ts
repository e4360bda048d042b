import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hunk } from "../src/protocol";
import { type Names, type Node, shownOf, treeOf } from "../src/review/tree";
import { announcement } from "../src/review/wording";
import { conflicted, edit, hunk, list, reviewOf } from "./fixtures";

const names: Names = {
  ofUri: (uri) => uri.slice("file:///p/".length),
  ofPath: (path) => path.slice("/p/".length),
  beforeEdit: (edit) => (edit === "lib/known.js" ? "lib/mv.js" : undefined),
};

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
  assert.deepEqual(outline(treeOf(review.all(), names)), [
    "claude-code (3 in 2 files · +4 −2) agent.held",
    "  Conversation conv (3 in 2 files) conversation.held",
    "    a.js (+3 −1 · 2 left) file.held",
    "      TWO (line 2 · +1 −1) hunk.held",
    "      x (after line 7 · +2) hunk.held",
    "    b.js (+1 −1 · 1 left) file.inText",
    "      TWO (line 2 · +1 −1 · in the text) hunk.inText",
    "codex (1 in 1 file, 1 conflicted · +1 −1) agent.held",
    "  Conversation other (1 in 1 file, 1 conflicted) conversation.held",
    "    c.js (+1 −1 · 1 left, 1 conflicted) file.held",
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
  const conversations = treeOf(review.all(), names)[0]?.children ?? [];
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
    treeOf(review.all(), names)[0]?.children.map((node) => node.label),
    ["Conversation of 09:05"],
  );
});

test("a decision is about what the node holds", () => {
  const review = reviewOf(list([edit("a", [hunk()]), edit("b", [hunk({ lines: { start: 5, end: 6 } })])]));
  const [agent] = treeOf(review.all(), names);
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
  const lines = outline(treeOf(review.all(), names));
  assert.deepEqual(lines.slice(2), [
    "    a.js (+1 −1 · 1 left, decided in Neovim) file.readOnly",
    "      TWO (line 2 · +1 −1) hunk.readOnly",
    "    b.js (+2 −2 · 2 left, 1 conflicted) file.held",
    "      TWO (line 2 · +1 −1 · deciding…) hunk.deciding",
    "      TWO (place lost · +1 −1 · conflicted) hunk.lost",
    "    c.js (to be deleted) file.held",
    "      to be deleted: accept or reject () hunk.held",
  ]);
});

test("ids last: one more hunk changes none of them", () => {
  const ids = (nodes: readonly Node[]): string[] => nodes.flatMap((node) => [node.id, ...ids(node.children)]);
  const before = ids(treeOf(reviewOf(list([edit("a", [hunk()])])).all(), names));
  const more = reviewOf(list([edit("a", [hunk({ number: 2, lines: { start: 0, end: 1 } }), hunk()])]));
  const after = new Set(ids(treeOf(more.all(), names)));
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
        names,
      ),
    );
  assert.equal(shown(1, 1), shown(1, 2));
  assert.notEqual(shown(1, 1), shown(2, 1));
});

test("what becomes of files stands beside their names, done or to be done", () => {
  const file = (words: string, said: Partial<Hunk> = {}) =>
    hunk({ file: words, lines: null, removed: [], proposed: [], ...said });
  const line = hunk({ number: 2, state: "inText", removed: [] });
  const of = (name: string, ...hunks: Hunk[]) => list([edit(name, hunks)], { uri: `file:///p/${name}` });
  const review = reviewOf(
    of("a.js", file("make the file", { state: "inText" }), line),
    of("b.js", file("remove the file", { state: "inText" })),
    of("lib/c.js", file("rename the file to /p/lib/moved.js"), line),
    of("lib/d.js", file("rename the file to /p/e.js")),
    of("lib/known.js", file("rename the file to /p/lib/known.js", { state: "inText" })),
    of("moved.js", file("rename the file to /p/moved.js", { state: "inText" })),
    of("run.sh", file("change the file's mode")),
  );
  const [agent] = treeOf(review.all(), names);
  assert.deepEqual(outline(agent?.children[0]?.children ?? []), [
    "a.js (created · +1) file.inText",
    "  created: keep or undo () hunk.inText",
    "  TWO (line 2 · +1 · in the text) hunk.inText",
    "b.js (deleted) file.inText",
    "  deleted: keep or undo () hunk.inText",
    "lib/c.js → moved.js (+1 · 1 left) file.held",
    "  → moved.js: accept or reject () hunk.held",
    "  TWO (line 2 · +1 · in the text) hunk.inText",
    "lib/d.js → e.js () file.held",
    "  → e.js: accept or reject () hunk.held",
    "lib/mv.js → known.js () file.inText",
    "  renamed: keep or undo () hunk.inText",
    "moved.js (renamed) file.inText",
    "  renamed: keep or undo () hunk.inText",
    "run.sh (change the file's mode) file.held",
    "  change the file's mode: accept or reject () hunk.held",
  ]);
  assert.deepEqual(
    agent?.children[0]?.children.map(({ children }) => children[0]?.spoken),
    [
      "a.js, created: keep or undo",
      "b.js, deleted: keep or undo",
      "lib/c.js to become moved.js, to be renamed moved.js: accept or reject",
      "lib/d.js to become e.js, to be renamed e.js: accept or reject",
      "lib/mv.js to become known.js, renamed: keep or undo",
      "moved.js, renamed: keep or undo",
      "run.sh, change the file's mode: accept or reject",
    ],
  );
});

test("what is counted is named for those who listen", () => {
  const [agent] = treeOf(reviewOf(list([edit("a", [hunk(), hunk({ number: 2 })])])).all(), names);
  assert.equal(agent?.spoken, "claude-code, 2 hunks in 1 file");
  assert.equal(agent?.children[0]?.spoken, "Conversation conv of claude-code, 2 hunks in 1 file");
});

/** What a screen reader says of a hunk: its row, and where one goes to it. */
function said(hunk: Hunk, reason: string | null = null, ofList: Parameters<typeof list>[1] = {}): string[] {
  const [document] = reviewOf(list([edit("a", [hunk], { reason })], ofList)).all();
  assert.ok(document?.entries[0]);
  const [agent] = treeOf([document], names);
  const row = agent?.children[0]?.children[0]?.children[0]?.spoken ?? "";
  return [row, announcement(document.entries[0], document, 1, 1, "a.js")];
}

test("every state of a hunk is said, with why it was made and what stands against it", () => {
  const FILE = { lines: null, removed: [], proposed: [] };
  const states: [...Parameters<typeof said>, row: string, gone: string][] = [
    [hunk(), null, {}, "line 2, 1 line replaced, held, TWO", "line 2, 1 line replaced, held, claude-code"],
    [
      hunk(),
      "the tests expect it",
      {},
      "line 2, 1 line replaced, held, TWO, the tests expect it",
      "line 2, 1 line replaced, held, claude-code, the tests expect it",
    ],
    [
      hunk({ state: "inText" }),
      null,
      {},
      "line 2, 1 line replaced, in the text, TWO",
      "line 2, 1 line replaced, in the text, claude-code",
    ],
    [
      hunk({ state: "edited" }),
      null,
      {},
      "line 2, 1 line replaced, changed by you, TWO",
      "line 2, 1 line replaced, changed by you, claude-code",
    ],
    [
      hunk({ deciding: true }),
      null,
      {},
      "line 2, 1 line replaced, deciding…, TWO",
      "line 2, 1 line replaced, deciding…, claude-code",
    ],
    [
      conflicted(),
      null,
      {},
      "line 2, 1 line replaced, conflicted, TWO, You changed a line that this edit replaces.",
      "line 2, 1 line replaced, conflicted, claude-code, You changed a line that this edit replaces.",
    ],
    [
      conflicted({ conflict: null, lines: null, ways: ["reject"] }),
      null,
      {},
      "place lost, 1 line replaced, conflicted, TWO, You changed lines that this edit replaces.",
      "place lost, 1 line replaced, conflicted, claude-code, You changed lines that this edit replaces.",
    ],
    [
      hunk(),
      null,
      { readOnly: true, owner: "Neovim" },
      "line 2, 1 line replaced, held, decided in Neovim, TWO",
      "line 2, 1 line replaced, held, decided in Neovim, claude-code",
    ],
    [
      hunk(),
      null,
      { readOnly: true },
      "line 2, 1 line replaced, held, decided in another editor, TWO",
      "line 2, 1 line replaced, held, decided in another editor, claude-code",
    ],
    ...(["make", "remove"] as const).flatMap((verb): typeof states => {
      const done = verb === "make" ? "created" : "deleted";
      const file = { ...FILE, file: `${verb} the file` };
      return [
        [hunk(file), null, {}, `to be ${done}: accept or reject`, `to be ${done}, held, claude-code`],
        [
          hunk({ ...file, deciding: true }),
          null,
          {},
          `deciding…, to be ${done}`,
          `to be ${done}, deciding…, claude-code`,
        ],
        [hunk({ ...file, state: "inText" }), null, {}, `${done}: keep or undo`, `${done}, claude-code`],
      ];
    }),
  ];
  for (const [of, reason, ofList, row, gone] of states) {
    const lines = of.file === null ? ["a.js, ", "hunk 1 of 1, a.js "] : ["a.js, ", "hunk 1 of 1, a.js, "];
    assert.deepEqual(said(of, reason, ofList), [lines[0] + row, lines[1] + gone]);
  }
  const moved = hunk({ ...FILE, file: "rename the file to /p/b.js" });
  assert.deepEqual(said(moved), [
    "a.js to become b.js, to be renamed b.js: accept or reject",
    "hunk 1 of 1, a.js, to be renamed b.js, held, claude-code",
  ]);
  assert.deepEqual(said({ ...moved, state: "inText" }), [
    "a.js, renamed: keep or undo",
    "hunk 1 of 1, a.js, renamed, claude-code",
  ]);
});

test("one agent alone", () => {
  const review = reviewOf(list([edit("a", [hunk()]), edit("b", [hunk()], { agent: "codex" })]));
  assert.deepEqual(
    treeOf(review.all(), names, "codex").map(({ label, entries }) => [label, entries.length]),
    [["codex", 1]],
  );
});
