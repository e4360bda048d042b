import assert from "node:assert/strict";
import { test } from "node:test";
import type { TextEdit } from "vscode-languageclient/node";
import { Deliveries, guards, linesPut, textWith } from "../src/matchDelivery";

const DOCUMENT = "file:///p/a.js";
const BEFORE = "one\ntwo\nthree";

type Place = readonly [line: number, character: number];

const range = ([line, character]: Place, [endLine, endCharacter]: Place) => ({
  start: { line, character },
  end: { line: endLine, character: endCharacter },
});
const edit = (from: Place, to: Place, newText: string): TextEdit => ({ range: range(from, to), newText });
const change = (from: Place, to: Place, text: string) => ({ range: range(from, to), text });

/** Deliveries of which one, number 7, is under way. */
function underWay(text = textWith(BEFORE, [edit([1, 0], [2, 0], "TWO\n")], "\n")) {
  const deliveries = new Deliveries();
  const delivery = { number: 7, document: DOCUMENT, text };
  deliveries.begin(delivery);
  const changed = (now: string, document = DOCUMENT) => deliveries.changed(document, () => now);
  return { deliveries, delivery, changed };
}

test("the first change that makes the text that an edit leads to is its delivery, and no later one", () => {
  const { changed } = underWay();
  assert.equal(changed("one\nTWO\nthree"), 7);
  assert.equal(changed("one\nTWO\nthree"), undefined);
});

test("however VS Code cuts an edit down, it is the same delivery", () => {
  const whole = edit([0, 0], [2, 5], "one\nTWO\nthree!");
  const { changed } = underWay(textWith(BEFORE, [whole], "\n"));
  const minimal = [edit([1, 0], [1, 3], "TWO"), edit([2, 5], [2, 5], "!")];
  assert.equal(changed(textWith(BEFORE, minimal, "\n")), 7);
});

test("a change that slips in is not the delivery, nor is what comes after it", () => {
  for (const slipped of ["one\ntwo!\nthree", "one\nTWO!\nthree", BEFORE, ""]) {
    const { changed } = underWay();
    assert.equal(changed(slipped), undefined, JSON.stringify(slipped));
    assert.equal(changed("one\nTWO\nthree"), undefined, "VS Code has refused it");
  }
});

test("a change that holds more than the delivery is not it", () => {
  const { changed } = underWay();
  assert.equal(changed("one\nTWO\nthree "), undefined);
});

test("a change of another document is not the delivery, and leaves it under way", () => {
  const { changed } = underWay();
  assert.equal(changed("one\nTWO\nthree", "file:///p/b.js"), undefined);
  assert.equal(changed("one\nTWO\nthree"), 7);
});

test("what comes after the answer is not the delivery", () => {
  const { deliveries, delivery, changed } = underWay();
  deliveries.end(delivery);
  assert.equal(changed("one\nTWO\nthree"), undefined);
});

test("one of two that are for the same text is made", () => {
  const { deliveries, changed } = underWay();
  deliveries.begin({ number: 8, document: DOCUMENT, text: "one\nthree" });
  assert.equal(changed("one\nthree"), 8);
  assert.equal(changed("one\nTWO\nthree"), undefined);
});

test("edits are made in the text's own line endings, wherever they stand in the list", () => {
  const cases: [string, string, TextEdit[], string][] = [
    ["a\nb\nc", "\n", [edit([2, 0], [2, 1], "C"), edit([0, 0], [1, 0], "")], "b\nC"],
    ["a\r\nb", "\r\n", [edit([1, 0], [1, 0], "x\ny\r\nz\r")], "a\r\nx\r\ny\r\nz\r\nb"],
    ["a\nb\n", "\n", [edit([2, 0], [2, 0], "c")], "a\nb\nc"],
    ["a\nb", "\n", [edit([0, 9], [1, 0], "!")], "a!b"],
    ["a\nb", "\n", [edit([7, 3], [9, 9], "\nc")], "a\nb\nc"],
    ["🦀a\n", "\n", [edit([0, 2], [0, 3], "é")], "🦀é\n"],
    ["", "\n", [edit([0, 0], [0, 0], "a\n")], "a\n"],
    ["ab", "\n", [edit([0, 1], [0, 1], "1"), edit([0, 1], [0, 1], "2"), edit([0, 1], [0, 2], "3")], "a123"],
  ];
  for (const [text, ending, edits, expected] of cases) {
    assert.equal(textWith(text, edits, ending), expected, JSON.stringify([text, edits]));
  }
});

test("the lines that a change puts something into, by their numbers after it", () => {
  assert.deepEqual(linesPut([]), []);
  assert.deepEqual(linesPut([change([3, 0], [3, 0], "  ")]), [3]);
  assert.deepEqual(linesPut([change([1, 11], [1, 11], "\n  ")]), [1, 2]);
  // Told from the last to the first, as VS Code does: the second is where the first has moved it.
  const two = [change([5, 4], [5, 4], "\r\n  "), change([0, 0], [2, 0], "")];
  assert.deepEqual(linesPut(two), [0, 3, 4]);
});

test("new lines of white space are put back, but for those that an edit is about", () => {
  const blank = [{ line: 2, text: "    " }];
  const guarded = [edit([2, 0], [2, 4], "    ")];
  const beside = [
    edit([0, 0], [0, 0], "x\n"),
    edit([2, 0], [2, 0], "x\n"),
    edit([2, 4], [2, 4], "\nx"),
    edit([1, 0], [2, 0], ""),
    edit([3, 0], [4, 0], ""),
  ];
  for (const one of beside) {
    assert.deepEqual(guards(blank, [one]), guarded, JSON.stringify(one));
  }
  const about = [edit([2, 0], [3, 0], ""), edit([2, 2], [2, 2], "x"), edit([0, 0], [9, 0], "x")];
  for (const one of about) {
    assert.deepEqual(guards(blank, [one]), [], JSON.stringify(one));
  }
});
