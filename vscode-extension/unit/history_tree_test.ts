import assert from "node:assert/strict";
import { test } from "node:test";
import type { Edit } from "../src/protocol";
import { historyTreeOf } from "../src/review/historyTree";
import { entriesOf } from "../src/review/hunks";
import type { Node } from "../src/review/tree";
import { conflicted, edit, hunk } from "./fixtures";

const NOW = new Date(2026, 10, 29, 15, 7);

function tree(edits: Edit[], readOnly = false): Node[] {
  const uri = "file:///p/a.js";
  const document = { uri, key: uri, version: 1, owner: null, readOnly, edits, entries: entriesOf(edits) };
  return historyTreeOf(document, NOW);
}

/** The rows as they are shown, and what menus go by. */
function rows(nodes: readonly Node[]): string[] {
  return nodes.flatMap(({ kind, label, description, context, children }) => [
    `${kind === "edit" ? "" : "  "}${label} | ${description} | ${context}`,
    ...rows(children),
  ]);
}

test("the newest edit comes first, with when and why, and each hunk says how it stands", () => {
  const older = edit(
    "a",
    [
      hunk({ state: "inText", decision: "accepted" }),
      hunk({ number: 2, decision: "rejected", reason: "not here", lines: { start: 4, end: 4 }, removed: [] }),
      hunk({ number: 3, decision: "rejected", state: "withdrawn", lines: null }),
      hunk({ number: 4, decision: "accepted", deciding: true }),
      hunk({ number: 5, partOf: "b81d04e7-0c35-4a92-8f6e-5d2b7a90c3f4:1" }),
      hunk({ number: 6, decision: "accepted" }),
    ],
    { agent: "codex", tool: "write_file", made: new Date(2026, 10, 28, 9, 5).getTime(), status: "accepted" },
  );
  const newer = edit("b", [hunk(), conflicted({ number: 2 }), hunk({ number: 3, state: "edited" })], {
    reason: "the tests want it",
    made: new Date(2026, 10, 29, 14, 3).getTime(),
  });
  assert.deepEqual(rows(tree([older, newer])), [
    "claude-code | 14:03 · the tests want it · edit_text_file | edit.history",
    "  TWO | line 2 · +1 −1 · held | hunk.held",
    "  TWO | line 2 · +1 −1 · conflicted | hunk.conflicted",
    "  TWO | line 2 · +1 −1 · changed by you | hunk.inText",
    "codex | 2026-11-28 09:05 · write_file | edit.history",
    "  TWO | line 2 · +1 −1 · in the text | decided.in",
    '  TWO | after line 4 · +1 · rejected · told "not here" | decided.out',
    "  TWO | +1 −1 · withdrawn | hunk.none",
    "  TWO | line 2 · +1 −1 · deciding… | hunk.deciding",
    "  TWO | line 2 · +1 −1 · decided with b81d04e7:1 | hunk.none",
    "  TWO | line 2 · +1 −1 · accepted, not in the text | decided.out",
  ]);
});

test("an edit of a sidecar that does not say when it was made; one about the file itself", () => {
  const removal = hunk({
    file: "remove the file",
    lines: null,
    removed: [],
    proposed: [],
    decision: "rejected",
  });
  assert.deepEqual(rows(tree([edit("a", [removal])])), [
    "claude-code | edit_text_file | edit.history",
    "  to be deleted: accept or reject | rejected | decided.out",
  ]);
});

test("what another editor decides has no decisions here", () => {
  const decided = hunk({ state: "inText", decision: "accepted" });
  const [first] = tree([edit("a", [decided, hunk({ number: 2 })])], true);
  assert.deepEqual(
    first?.children.map(({ context }) => context),
    ["hunk.readOnly", "hunk.readOnly"],
  );
});

test("a screen reader is told all of it, and what a row is about is decided", () => {
  const decided = hunk({ number: 2, state: "inText", decision: "accepted", reason: "good" });
  const [first] = tree([edit("a", [decided], { reason: "shorter", status: "accepted" })]);
  assert.equal(first?.spoken, "claude-code, shorter, accepted");
  assert.equal(first?.children[0]?.spoken, 'line 2, 1 line replaced, in the text, TWO, shorter, told "good"');
  assert.deepEqual(first?.children[0]?.targets, [{ uri: "file:///p/a.js", edit: "a", hunk: 2 }]);
});
