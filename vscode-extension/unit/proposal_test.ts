import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf } from "../src/review/hunks";
import { placesOfProposed, revisionOf, withoutHunks } from "../src/review/proposal";
import { conflicted, edit, hunk } from "./fixtures";

const entries = entriesOf([
  edit("a", [
    hunk({ number: 1, lines: { start: 1, end: 2 }, removed: ["two"], proposed: ["2", "2b"] }),
    hunk({ number: 2, lines: { start: 4, end: 4 }, removed: [], proposed: ["new"] }),
    conflicted({ number: 3, lines: { start: 5, end: 6 } }),
  ]),
]);
const TEXT = ["one", "two", "three", "four", "five", "six"];
const PROPOSED = ["one", "2", "2b", "three", "four", "new", "five", "six"];
const places = placesOfProposed(entries);

function revision(lines: string[]) {
  const { revised, elsewhere, torn } = revisionOf(PROPOSED.join("\n"), lines.join("\n"), places);
  return { revised: Object.fromEntries(revised), elsewhere, torn };
}

/** The proposal with some of its lines replaced. */
function edited(start: number, count: number, ...lines: string[]): string[] {
  return PROPOSED.toSpliced(start, count, ...lines);
}

test("held hunks are found in the text that has them", () => {
  assert.deepEqual(
    places.map(({ name, lines }) => [name, PROPOSED.slice(lines.start, lines.end)]),
    [
      ["a:1", ["2", "2b"]],
      ["a:2", ["new"]],
    ],
  );
});

test("a text that was not touched revises nothing", () => {
  assert.deepEqual(revision(PROPOSED), { revised: {}, elsewhere: [], torn: false });
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
    torn: false,
  });
});

test("what the person changes elsewhere is for the text without the hunks", () => {
  const lines = edited(7, 1, "SIX", "SEVEN");
  lines.splice(4, 1, "FOUR!");
  lines.splice(0, 0, "zero");
  const { revised, elsewhere, torn } = revision(lines);
  assert.deepEqual([revised, torn], [{}, false]);
  const text = [...TEXT];
  for (const { start, end, lines: own } of elsewhere) {
    text.splice(start, end - start, ...own);
  }
  assert.deepEqual(text, ["zero", "one", "two", "three", "FOUR!", "five", "SIX", "SEVEN"]);
});

test("a change over the edge of a hunk is nobody's", () => {
  assert.equal(revision(edited(2, 2, "both")).torn, true);
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
