import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../src/review/hunks";
import {
  announcement,
  headingOf,
  placeOf,
  tallyInWords,
  tallyOf,
  verbsFor,
  waysFor,
} from "../src/review/wording";
import { conflicted, edit, hunk, list, reviewOf } from "./fixtures";

const words = (...said: Parameters<typeof waysFor>) => waysFor(...said).map((way) => way.word);

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
    const [entry] = reviewOf(list([edit("a", hunks)])).all()[0]?.entries ?? [];
    return headingOf(entry as Entry);
  };
  assert.equal(heading(hunk({ proposed: ["1", "2"] })), "claude-code · +2 −1");
  assert.equal(heading(hunk(), hunk({ number: 2 })), "claude-code · 1 of 2 · +1 −1");
  assert.equal(heading(conflicted()), "claude-code · +1 −1 · conflicted");
  assert.equal(heading(hunk({ deciding: true })), "claude-code · +1 −1 · deciding…");
  assert.equal(heading(hunk({ file: "remove the file", lines: null })), "claude-code · remove the file");
});

test("where one is, for those who listen", () => {
  const [document] = reviewOf(
    list([edit("a", [hunk(), hunk({ number: 2, removed: [], lines: { start: 4, end: 4 } })])]),
  ).all();
  const said = document?.entries.map((entry, index) => announcement(entry, index + 1, 2, "src/a.js"));
  assert.deepEqual(said, [
    "hunk 1 of 2, src/a.js line 2, 1 line replaced, held, claude-code",
    "hunk 2 of 2, src/a.js at line 5, 1 line inserted, held, claude-code",
  ]);
  assert.equal(placeOf(undefined), "place lost");
});

test("how much there is to decide", () => {
  const review = reviewOf(
    list([edit("a", [hunk(), conflicted({ number: 2 })])]),
    list([edit("b", [hunk()], { agent: "codex" })], { uri: "file:///p/b.js" }),
  );
  const tally = tallyOf(review.all());
  assert.deepEqual(tally, { hunks: 3, conflicted: 1, files: 2, agents: ["claude-code", "codex"] });
  assert.equal(tallyInWords(tally), "3 hunks to decide in 2 files, 1 conflicted");
  assert.equal(tallyInWords({ hunks: 1, conflicted: 0, files: 1, agents: [] }), "1 hunk to decide in 1 file");
});
