import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { PendingEdits, Place, ProposedTextResult } from "../src/protocol";
import { entriesOf } from "../src/review/hunks";
import { carriedOver, type LineEdit, proposedIn, revisionOf, withoutHunks } from "../src/review/proposal";
import { edit, hunk } from "./fixtures";

const TEXT = ["one", "two", "three", "four", "five", "six"];
const PROPOSED = ["one", "2", "2b", "three", "four", "new", "five", "six"];
const place = (hunk: string, lines: [number, number], replaced: [number, number]): Place => ({
  hunk,
  lines: { start: lines[0], end: lines[1] },
  replaced: { start: replaced[0], end: replaced[1] },
});
const places = proposedIn([place("a:1", [1, 3], [1, 2]), place("a:2", [5, 6], [4, 4])], []);

/** A text with edits made to it. */
function typed(text: readonly string[], edits: readonly LineEdit[]): string[] {
  return edits.reduce<string[]>(
    (lines, { start, end, lines: own }) => {
      return lines.toSpliced(start, end - start, ...own);
    },
    [...text],
  );
}

function revision(lines: string[]) {
  const { revised, elsewhere, torn } = revisionOf(PROPOSED.join("\n"), lines.join("\n"), places);
  return { revised: Object.fromEntries(revised), elsewhere, torn };
}

/** The proposal with some of its lines replaced. */
function edited(start: number, count: number, ...lines: string[]): string[] {
  return PROPOSED.toSpliced(start, count, ...lines);
}

test("a text that was not touched revises nothing", () => {
  assert.deepEqual(revision(PROPOSED), { revised: {}, elsewhere: [], torn: undefined });
});

test("what the person changes in a hunk is their version of it", () => {
  assert.deepEqual(revision(edited(2, 1, "2c", "2d")).revised, { "a:1": ["2", "2c", "2d"] });
  assert.deepEqual(revision(edited(5, 1)).revised, { "a:2": [] });
  assert.deepEqual(revision(edited(6, 0, "newer")).revised, { "a:2": ["new", "newer"] });
});

test("several changes keep to their places", () => {
  const lines = edited(5, 1, "NEW", "NEWER");
  lines.splice(1, 2, "II");
  assert.deepEqual(revision(lines), {
    revised: { "a:1": ["II"], "a:2": ["NEW", "NEWER"] },
    elsewhere: [],
    torn: undefined,
  });
});

test("what the person changes elsewhere is for the text without the hunks", () => {
  const lines = edited(7, 1, "SIX", "SEVEN");
  lines.splice(4, 1, "FOUR!");
  lines.splice(0, 0, "zero");
  const { revised, elsewhere, torn } = revision(lines);
  assert.deepEqual([revised, torn], [{}, undefined]);
  assert.deepEqual(typed(TEXT, elsewhere), ["zero", "one", "two", "three", "FOUR!", "five", "SIX", "SEVEN"]);
});

test("a change over the edge of a hunk is nobody's", () => {
  assert.equal(revision(edited(2, 2, "both")).torn, "overAnEdge");
});

/** What the transcript says of the text in which one hunk rests on another: the list, and the answer. */
function builtOn(): { list: PendingEdits; proposed: ProposedTextResult } {
  const said = readFileSync("../editors/transcripts/one_needs_the_other.jsonl", "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const proposed = said.find(({ to }) => to === "hashline/proposedText").result;
  return { list: said[0].params, proposed };
}

test("hunks that build on each other: a text that was not touched revises none, and what is changed below is below", () => {
  const { list, proposed } = builtOn();
  const both = proposedIn(proposed.places, list.edits);
  const lines = proposed.text.split("\n");
  assert.deepEqual(
    both.map(({ lines: { start, end } }) => lines.slice(start, end)),
    [["2"], ["2c"]],
  );
  assert.deepEqual(revisionOf(proposed.text, proposed.text, both), { revised: new Map(), elsewhere: [] });
  const below = revisionOf(proposed.text, proposed.text.replace("four", "FOUR\n4b"), both);
  assert.deepEqual(below.revised, new Map());
  assert.deepEqual(typed(TEXT, below.elsewhere), ["one", "two", "three", "FOUR", "4b", "five", "six"]);
});

test("of hunks that build on each other the upper can be changed, the lower only by itself", () => {
  const { list, proposed } = builtOn();
  const both = proposedIn(proposed.places, list.edits);
  const upper = revisionOf(proposed.text, proposed.text.replace("2c", "2d\n2e"), both);
  assert.deepEqual([...upper.revised.values()], [["2d", "2e"]]);
  assert.deepEqual([upper.elsewhere, upper.torn], [[], undefined]);
  assert.equal(revisionOf(proposed.text, proposed.text.replace("2\n", "II\n"), both).torn, "builtOn");
});

test("a hunk inside another is changed by itself, and both count once for what is below", () => {
  const inner = edit("b", [hunk({ dependsOn: ["a:1"] })]);
  const nested = proposedIn(
    [place("a:1", [1, 4], [1, 2]), place("b:1", [2, 3], [2, 2])],
    [edit("a", [hunk()]), inner],
  );
  const text = ["one", "2", "2B", "2c", "three", "four"];
  const after = ["one", "2", "mine", "2c", "three", "FOUR"];
  const { revised, elsewhere, torn } = revisionOf(text.join("\n"), after.join("\n"), nested);
  assert.deepEqual([...revised], [["b:1", ["mine"]]]);
  assert.deepEqual([elsewhere, torn], [[{ start: 3, end: 4, lines: ["FOUR"] }], undefined]);
});

test("a hunk that builds on a part of another builds on what that part is shown with", () => {
  const root = edit("a", [hunk()]);
  const part = edit("b", [hunk({ partOf: "a:1", dependsOn: [] })]);
  const upper = edit("c", [hunk({ dependsOn: ["b:1"] })]);
  const found = proposedIn([place("a:1", [1, 2], [1, 2]), place("c:1", [2, 3], [2, 2])], [root, part, upper]);
  assert.deepEqual(
    found.map(({ isBuiltOn }) => isBuiltOn),
    [true, false],
  );
});

test("a large text is compared as one change, in no time", () => {
  const large = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
  const changed = large.map((line) => `${line}!`);
  const began = performance.now();
  const { elsewhere } = revisionOf(large.join("\n"), changed.join("\n"), []);
  assert.deepEqual([elsewhere.length, elsewhere[0]?.end], [1, 20_000]);
  assert.ok(performance.now() - began < 1000);
});

test("what is in the text is taken out of it, with the text's own endings", () => {
  const inText = entriesOf([
    edit("a", [
      hunk({ number: 1, state: "inText", lines: { start: 0, end: 1 }, removed: ["ONE"] }),
      hunk({ number: 2, state: "edited", lines: { start: 2, end: 4 }, removed: [] }),
      hunk({ number: 3, lines: { start: 4, end: 5 } }),
    ]),
  ]);
  assert.equal(withoutHunks("one\r\ntwo\r\nx\r\ny\r\nthree\r\n", inText), "ONE\r\ntwo\r\nthree\r\n");
});

test("lines of the document are carried over to the text with the held hunks in it", () => {
  const hunks = [
    { name: "a:1", lines: { start: 2, end: 4 }, replaced: { start: 2, end: 3 }, isBuiltOn: false },
    { name: "a:2", lines: { start: 9, end: 9 }, replaced: { start: 8, end: 10 }, isBuiltOn: false },
  ];
  const carried = (start: number, end: number) => carriedOver({ start, end }, hunks);
  assert.deepEqual(carried(0, 2), { start: 0, end: 2 });
  assert.deepEqual(carried(3, 8), { start: 4, end: 9 });
  assert.deepEqual(carried(10, 11), { start: 9, end: 10 });
  assert.equal(carried(2, 3), undefined);
  assert.equal(carried(9, 12), undefined);
});
