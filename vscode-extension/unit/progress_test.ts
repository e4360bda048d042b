import assert from "node:assert/strict";
import { test } from "node:test";
import { doneInWords, insteadInWords, leftIn, leftInWords } from "../src/review/progress";
import { edit, hunk, list, reviewOf } from "./fixtures";

const A = "file:///p/a.js";

const review = reviewOf(
  list([edit("a", [hunk(), hunk({ number: 2 }), hunk({ number: 3 })])]),
  list([edit("b", [hunk()])], { uri: "file:///p/b.js" }),
  list([edit("c", [hunk(), hunk({ number: 2, deciding: true })])], { uri: "file:///p/c.js" }),
);

test("what is left is counted here and elsewhere, without what is decided already", () => {
  const left = (here: string | undefined, ...gone: string[]) =>
    leftInWords(leftIn(review.all(), here, new Set(gone)));
  assert.equal(left(A), "3 left here, 2 in 2 other files");
  assert.equal(left(A, "a:1", "b:1"), "2 left here, 1 in 1 other file");
  assert.equal(left(A, "a:1", "b:1", "c:1"), "2 left here");
  assert.equal(left(A, "a:1", "a:2", "a:3"), "2 left in 2 other files");
  assert.equal(left(undefined), "5 left in 3 other files");
  assert.equal(left(A, "a:1", "a:2", "a:3", "b:1", "c:1"), "Nothing is left to decide");
});

test("a decision has the word of what it was made about", () => {
  assert.equal(doneInWords("accept", [hunk()]), "Accepted");
  assert.equal(doneInWords("reject", [hunk(), hunk({ state: "inText" })]), "Rejected");
  assert.equal(doneInWords("accept", [hunk({ state: "inText" })]), "Kept");
  assert.equal(doneInWords("reject", [hunk({ state: "edited" })]), "Undone");
  assert.equal(doneInWords("keepBoth", [hunk({ state: "conflicted" })]), "Kept both");
  assert.equal(doneInWords("reopen", []), "Reopened");
});

test("where the person meant something that is not there, they are told what is", () => {
  const said = (here: string | undefined) =>
    insteadInWords("No hunk on this line", leftIn(review.all(), here));
  assert.equal(said(A), "No hunk on this line. 3 in this file: Go to Next Hunk");
  assert.equal(said("file:///p/d.js"), "No hunk on this line. 5 in 3 other files: Go to Next Hunk");
  assert.equal(insteadInWords("No hunk on this line", leftIn([], A)), "No hunk on this line");
});
