import assert from "node:assert/strict";
import { test } from "node:test";
import { lineChangesOf } from "../src/lineChanges";
import type { Lines } from "../src/protocol";
import { entriesOf, hunkAt, hunksTouching, type LineChange, shift, shiftAll } from "../src/review/hunks";
import { conflicted, edit, hunk } from "./fixtures";

const at = (line: number, character: number) => ({ line, character });

test("entries stand in text order, those of the file first and those without a place last", () => {
  const entries = entriesOf([
    edit("a", [hunk({ number: 1, lines: { start: 5, end: 6 } }), hunk({ number: 2, lines: null })]),
    edit("b", [hunk({ number: 1, file: "remove the file", lines: null })]),
    edit("c", [
      hunk({ number: 1, lines: { start: 2, end: 2 } }),
      hunk({ number: 2, lines: { start: 2, end: 3 } }),
    ]),
  ]);
  assert.deepEqual(
    entries.map((entry) => entry.name),
    ["b:1", "c:1", "c:2", "a:1", "a:2"],
  );
});

test("what is decided, withdrawn or part of another hunk is not shown", () => {
  const entries = entriesOf([
    edit("a", [
      hunk({ number: 1, decision: "accepted" }),
      hunk({ number: 2, decision: "accepted", deciding: true }),
      hunk({ number: 3, state: "withdrawn" }),
      hunk({ number: 4, partOf: "a:2" }),
      conflicted({ number: 5 }),
    ]),
  ]);
  assert.deepEqual(
    entries.map((entry) => entry.name),
    ["a:2", "a:5"],
  );
});

test("an entry has lines of its own, which the list's do not share", () => {
  const one = hunk();
  const [entry] = entriesOf([edit("a", [one])]);
  shift(entry?.lines as Lines, { first: 0, last: 0, newLast: 3 });
  assert.deepEqual(one.lines, { start: 1, end: 2 });
  assert.deepEqual(entry?.lines, { start: 4, end: 5 });
});

const SHIFTS: [string, Lines, Lines][] = [
  ["before", { start: 5, end: 7 }, { start: 6, end: 8 }],
  ["after", { start: 0, end: 2 }, { start: 0, end: 2 }],
  ["around", { start: 1, end: 6 }, { start: 1, end: 7 }],
  ["over its end", { start: 1, end: 3 }, { start: 1, end: 3 }],
  ["over its beginning", { start: 3, end: 6 }, { start: 3, end: 7 }],
  ["a place behind", { start: 4, end: 4 }, { start: 5, end: 5 }],
  ["a place before", { start: 2, end: 2 }, { start: 2, end: 2 }],
];

for (const [where, before, after] of SHIFTS) {
  test(`lines move along with a change of lines 2..4 into 2..5: ${where}`, () => {
    const lines = { ...before };
    shift(lines, { first: 2, last: 4, newLast: 5 });
    assert.deepEqual(lines, after);
  });
}

test("a hunk is meant by its lines, a place by the lines on both sides, the line below first", () => {
  const entries = entriesOf([
    edit("a", [
      hunk({ number: 1, lines: { start: 1, end: 3 } }),
      hunk({ number: 2, lines: { start: 5, end: 5 } }),
      hunk({ number: 3, lines: { start: 6, end: 6 } }),
    ]),
  ]);
  const meant = [0, 1, 2, 3, 4, 5, 6, 7].map((row) => hunkAt(entries, row)?.name);
  assert.deepEqual(meant, [undefined, "a:1", "a:1", undefined, "a:2", "a:2", "a:3", undefined]);
  assert.deepEqual(
    hunksTouching(entries, 2, 5).map((entry) => entry.name),
    ["a:1", "a:2"],
  );
});

test("changes of a text are changes of its lines", () => {
  const changes = lineChangesOf([
    { range: { start: at(3, 4), end: at(3, 4) }, text: "x" },
    { range: { start: at(3, 4), end: at(3, 4) }, text: "\n    " },
    { range: { start: at(3, 0), end: at(3, 0) }, text: "a\r\nb\r\n" },
    { range: { start: at(3, 0), end: at(5, 0) }, text: "" },
    { range: { start: at(3, 2), end: at(5, 1) }, text: "y\nz" },
  ]);
  assert.deepEqual(changes, [
    { first: 3, last: 4, newLast: 4 },
    { first: 4, last: 4, newLast: 5 },
    { first: 3, last: 3, newLast: 5 },
    { first: 3, last: 5, newLast: 3 },
    { first: 3, last: 6, newLast: 5 },
  ]);
});

test("many places are moved along with many changes as one by one", () => {
  let seed = 7;
  /** Below `most`: the same ones in each run. */
  const any = (most: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * most);
  };
  const change = (most: number): LineChange => {
    const first = any(most);
    const last = first + any(Math.min(4, most - first));
    return { first, last, newLast: first + any(4) };
  };
  for (let round = 0; round < 5000; round++) {
    const places = Array.from({ length: 6 }, () => {
      const start = any(20);
      return { start, end: start + any(4) };
    });
    const changes: LineChange[] = [];
    for (let n = any(8); n > 0; n--) {
      // Most are above the one before, as the parts of one change of the text are.
      const above = changes.at(-1)?.first ?? 0;
      changes.push(change(above > 0 && any(4) > 0 ? above : 20));
    }
    const expected = places.map((lines) => ({ ...lines }));
    for (const one of changes) {
      for (const lines of expected) {
        shift(lines, one);
      }
    }
    const before = JSON.stringify(places);
    shiftAll(places, changes);
    assert.deepEqual(places, expected, `${before} ${JSON.stringify(changes)}`);
  }
});
