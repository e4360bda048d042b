import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../src/review/hunks";
import {
  announcement,
  headingOf,
  placeOf,
  sizeOfAll,
  tallyInBrief,
  tallyInWords,
  tallyOf,
  verbsFor,
  waitingInWords,
  waysFor,
} from "../src/review/wording";
import { conflicted, edit, hunk, list, reviewOf } from "./fixtures";

const words = (...said: Parameters<typeof waysFor>) => waysFor(...said).map((way) => way.word);

/** A document that is decided about here. */
const HERE = { readOnly: false, owner: null };

test("the verbs say whether it is held or in the text", () => {
  assert.deepEqual(words(hunk()), ["Accept", "Reject"]);
  assert.deepEqual(words(hunk({ state: "inText" })), ["Keep", "Undo"]);
  assert.equal(verbsFor([hunk({ state: "inText" }), hunk({ state: "edited" })]), "inText");
  assert.equal(verbsFor([hunk({ state: "inText" }), hunk()]), "held");
  assert.equal(verbsFor([]), "held");
});

test("a conflict has all its ways out, and only the rejection where its place is lost", () => {
  assert.deepEqual(words(conflicted()), ["Keep mine", "Take the agent's", "Keep both", "Edit by hand"]);
  assert.deepEqual(words(conflicted({ ways: ["reject"] })), ["Reject"]);
});

test("what the person has changed is undone with or without their lines", () => {
  assert.deepEqual(waysFor(hunk({ state: "edited" })), [
    { word: "Keep", decision: "accept" },
    { word: "Undo it, my changes too", decision: "reject", edited: "undo" },
    { word: "Undo it, keep my lines", decision: "reject", edited: "keep" },
  ]);
});

test("nothing can be decided while a decision is under way", () => {
  assert.deepEqual(waysFor(hunk({ deciding: true })), []);
});

test("headings", () => {
  const heading = (...hunks: Entry["hunk"][]) => {
    const entries = reviewOf(list([edit("a", hunks)])).all()[0]?.entries ?? [];
    return headingOf(entries[0] as Entry, entries.length);
  };
  assert.equal(heading(hunk({ proposed: ["1", "2"] })), "claude-code · +2 −1");
  assert.equal(heading(hunk(), hunk({ number: 2 })), "claude-code · +1 −1 · #1 · 2 left");
  assert.equal(heading(conflicted()), "claude-code · +1 −1 · conflicted");
  assert.equal(heading(hunk({ deciding: true })), "claude-code · +1 −1 · deciding…");
  const file = { lines: null, removed: [], proposed: [] };
  assert.equal(heading(hunk({ ...file, file: "remove the file" })), "claude-code · to be deleted");
  const moved = hunk({ ...file, file: "rename the file to /p/lib/b.js" });
  assert.equal(heading(moved), "claude-code · → b.js");
  assert.equal(heading({ ...moved, state: "inText" }), "claude-code · renamed");
  const [said] =
    reviewOf(list([edit("a", [hunk()], { reason: "the tests expect it" })])).all()[0]?.entries ?? [];
  assert.equal(headingOf(said as Entry, 1), "claude-code · +1 −1 · the tests expect it");
  assert.equal(
    announcement(said as Entry, HERE, 1, 1, "a.js"),
    "hunk 1 of 1, a.js line 2, 1 line replaced, held, claude-code, the tests expect it",
  );
});

test("where one is, for those who listen", () => {
  const [document] = reviewOf(
    list([edit("a", [hunk(), hunk({ number: 2, removed: [], lines: { start: 4, end: 4 } })])]),
  ).all();
  const said = document?.entries.map((entry, index) => announcement(entry, HERE, index + 1, 2, "src/a.js"));
  assert.deepEqual(said, [
    "hunk 1 of 2, src/a.js line 2, 1 line replaced, held, claude-code",
    "hunk 2 of 2, src/a.js after line 4, 1 line inserted, held, claude-code",
  ]);
  assert.equal(placeOf(undefined), "place lost");
  assert.equal(placeOf({ start: 0, end: 0 }), "before line 1");
  const removed = hunk({ file: "remove the file", lines: null, state: "inText" });
  const [entry] = reviewOf(list([edit("a", [removed])])).all()[0]?.entries ?? [];
  assert.equal(announcement(entry as Entry, HERE, 1, 1, "a.js"), "hunk 1 of 1, a.js, deleted, claude-code");
});

test("who waits for a decision", () => {
  assert.deepEqual(waitingInWords([]), []);
  assert.deepEqual(waitingInWords(["claude-code"]), ["claude-code waits"]);
  assert.deepEqual(waitingInWords(["claude-code", "codex"]), ["claude-code, codex wait"]);
});

test("how much there is to decide", () => {
  const review = reviewOf(
    list([edit("a", [hunk(), conflicted({ number: 2 })])]),
    list([edit("b", [hunk()], { agent: "codex" })], { uri: "file:///p/b.js" }),
  );
  const tally = tallyOf(review.all());
  assert.deepEqual(tally, { hunks: 3, conflicted: 1, files: 2, agents: ["claude-code", "codex"] });
  assert.equal(tallyInWords(tally), "3 hunks to decide in 2 files, 1 conflicted");
  assert.equal(tallyInBrief(tally), "3 in 2 files, 1 conflicted");
  assert.equal(
    sizeOfAll([hunk(), hunk({ removed: [] }), hunk({ file: "make the file", removed: [], proposed: [] })]),
    "+2 −1",
  );
  assert.equal(tallyInWords({ hunks: 1, conflicted: 0, files: 1, agents: [] }), "1 hunk to decide in 1 file");
});
