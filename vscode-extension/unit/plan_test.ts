import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hunk } from "../src/protocol";
import { entriesOf } from "../src/review/hunks";
import { isFarBeside, planFor, widthOf } from "../src/review/plan";
import { changedSpans, pairedSpans } from "../src/review/wordDiff";
import { conflicted, edit, hunk } from "./fixtures";

const TEXT = ["one", "two", "three is long", "four", "five", "six"];

function plan(hunks: Partial<Hunk>[], lines = TEXT, view = { start: 0, end: 100 }) {
  const numbered = hunks.map((said, index) => hunk({ number: index + 1, ...said }));
  const text = { lineCount: lines.length, tabSize: 4, line: (row: number) => lines[row] ?? "" };
  return planFor(entriesOf([edit("a", numbered)]), text, [view]);
}

const shown = (text: string) => text.replaceAll("\u00a0", " ");

test("what a held hunk puts in place of its lines stands beside them, in one column", () => {
  const { bands, ghosts, marks } = plan([
    { lines: { start: 1, end: 2 }, removed: ["two"], proposed: ["2", "  2b"] },
  ]);
  assert.deepEqual(bands, [{ start: 1, end: 2, kind: "removed", whole: false }]);
  assert.deepEqual(marks, [{ row: 1, kind: "removed" }]);
  assert.deepEqual(
    ghosts.map(({ row, text, gap, kind }) => [row, shown(text), gap + widthOf(TEXT[row] ?? "", 4), kind]),
    [
      [1, "2", 16, "proposed"],
      [2, "  2b", 16, "proposed"],
    ],
  );
});

test("a hunk that is in the text shows beside it what it has replaced", () => {
  const { bands, ghosts } = plan([
    { state: "inText", lines: { start: 0, end: 1 }, removed: ["ONE"], proposed: ["one"] },
  ]);
  assert.deepEqual(bands, [{ start: 0, end: 1, kind: "proposed", whole: false }]);
  assert.deepEqual(
    ghosts.map(({ row, text, kind }) => [row, text, kind]),
    [[0, "ONE", "removed"]],
  );
});

test("lines that only go are coloured to the edge, and lines that only come have a place", () => {
  const { bands, places, ghosts } = plan([
    { lines: { start: 1, end: 3 }, removed: ["two", "three is long"], proposed: [] },
    { lines: { start: 4, end: 4 }, removed: [], proposed: ["new"] },
  ]);
  assert.deepEqual(bands, [{ start: 1, end: 3, kind: "removed", whole: true }]);
  assert.deepEqual(places, [{ row: 4, edge: "above" }]);
  assert.deepEqual(
    ghosts.map(({ row, text }) => [row, text]),
    [[4, "new"]],
  );
});

test("lines that come at the end of the text are marked below its last line", () => {
  const { places, ghosts } = plan([{ lines: { start: 6, end: 6 }, removed: [], proposed: ["seven"] }]);
  assert.deepEqual(places, [{ row: 5, edge: "below" }]);
  assert.equal(ghosts[0]?.row, 5);
});

test("a hunk leaves the next one its room, and says how much is not shown", () => {
  const proposed = ["a", "b", "c", "d", "e"];
  const { ghosts } = plan([
    { lines: { start: 0, end: 1 }, removed: ["one"], proposed },
    { lines: { start: 3, end: 4 }, removed: ["four"], proposed: ["4"] },
  ]);
  assert.deepEqual(
    ghosts.map(({ row, text, kind }) => [row, shown(text), kind]),
    [
      [0, "a", "proposed"],
      [1, "b", "proposed"],
      [2, "… 3 more lines; hover shows them", "more"],
      [3, "4", "proposed"],
    ],
  );
});

test("with a single row of room the first line stands in it with the word of the others", () => {
  const { ghosts } = plan([{ lines: { start: 5, end: 6 }, removed: ["six"], proposed: ["6", "7"] }]);
  assert.deepEqual(
    ghosts.map(({ row, text }) => [row, shown(text)]),
    [[5, "6  … 1 more line; hover shows it"]],
  );
});

test("each row has one text beside it at most, wherever hunks are", () => {
  const hunks = [0, 0, 1, 2, 2, 6].map((start) => ({
    lines: { start, end: start },
    removed: [],
    proposed: ["x", "y", "z"],
  }));
  const rows = plan(hunks).ghosts.map(({ row }) => row);
  assert.deepEqual(rows, [...new Set(rows)]);
  assert.ok(rows.length > 0);
});

test("only what is in view is drawn", () => {
  const hunks = [10, 20, 30].map((start) => ({
    lines: { start, end: start + 1 },
    removed: ["x"],
    proposed: ["y"],
  }));
  const lines = Array.from({ length: 50 }, () => "x");
  const { bands } = plan(hunks, lines, { start: 18, end: 25 });
  assert.deepEqual(
    bands.map(({ start }) => start),
    [20],
  );
});

test("a conflict is drawn as one, with the agent's lines beside the person's", () => {
  const own = conflicted({ lines: { start: 1, end: 2 }, proposed: ["TWO"] });
  const { bands, ghosts, marks } = plan([own]);
  assert.equal(bands[0]?.kind, "conflicted");
  assert.equal(marks[0]?.kind, "conflicted");
  assert.equal(ghosts[0]?.text, "TWO");
});

test("tabs and wide characters have the columns that they take", () => {
  assert.equal(widthOf("\ta\tb", 4), 9);
  assert.equal(widthOf("日本a", 4), 5);
  const { ghosts } = plan([{ lines: { start: 0, end: 1 }, removed: ["one"], proposed: ["\tx  y"] }]);
  assert.equal(ghosts[0]?.text, "\u00a0\u00a0\u00a0\u00a0x\u00a0\u00a0y");
});

test("beside very long lines each line follows its own", () => {
  const lines = ["x".repeat(120), "short"];
  const { ghosts } = plan([{ lines: { start: 0, end: 2 }, removed: lines, proposed: ["a", "b"] }], lines);
  assert.deepEqual(
    ghosts.map(({ gap }) => gap),
    [3, 3],
  );
});

test("what stands far to the right is known, so that it is said elsewhere", () => {
  const far = (line: string, said: Partial<Hunk> = {}) => {
    const [entry] = entriesOf([edit("a", [hunk({ lines: { start: 0, end: 1 }, ...said })])]);
    return entry && isFarBeside(entry, { lineCount: 1, tabSize: 4, line: () => line });
  };
  assert.deepEqual([far("x".repeat(97)), far("x".repeat(98))], [false, true]);
  assert.deepEqual(
    [far("x".repeat(98), { proposed: [] }), far("x".repeat(98), { lines: null })],
    [false, false],
  );
});

test("words that changed are marked where the lines are still the hunk's", () => {
  const said = { lines: { start: 1, end: 2 }, removed: ["two words here"], proposed: ["two birds here"] };
  const lines = ["one", "two words here", "three"];
  assert.deepEqual(plan([said], lines).changed, [{ row: 1, span: [4, 9], kind: "removed" }]);
  assert.deepEqual(plan([said], ["one", "two Words here", "three"]).changed, []);
});

test("spans of changed words", () => {
  assert.deepEqual(changedSpans("a = b + c;", "a = x + c;"), { before: [[4, 5]], after: [[4, 5]] });
  assert.deepEqual(changedSpans("same", "same"), { before: [], after: [] });
  assert.deepEqual(changedSpans("nothing", "in common"), { before: [], after: [] });
  assert.deepEqual(pairedSpans(["a b", "c d"], ["a x"]), []);
});
