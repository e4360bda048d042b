import assert from "node:assert/strict";
import { test } from "node:test";
import { type Choice, type Decided, decide, type Refusal } from "../src/protocol";
import { aboutHunk, onward } from "../src/review/refusals";
import { conflicted, edit, hunk, list, reviewOf } from "./fixtures";

const URI = "file:///p/a.js";
const review = reviewOf(
  list([
    edit("a", [hunk(), conflicted({ number: 2 }), hunk({ number: 3, state: "edited" }), hunk({ number: 4 })]),
    edit("b", [hunk()]),
  ]),
);
const find = (name: string) => review.find(name);
const refusal = (name: string, why: Refusal["why"], others: string[] = []): Refusal => ({
  hunk: name,
  why,
  message: `${name} is ${why}.`,
  others,
});
const decided = (refused: Refusal[], queued: string[] = []): Decided => ({ queued, refused });
const accept = (number: number) => decide({ decision: "accept", uri: URI, edit: "a", hunk: number });

test("what is done needs no way on", () => {
  assert.equal(onward([accept(1)], decided([], ["a:1"]), ["a:1"], find), undefined);
});

test("what needs others is decided with them", () => {
  const refused = [refusal("a:1", "needsOthers", ["b:1"]), refusal("a:4", "needsOthers", ["b:1"])];
  const asked = decide({ decision: "reject", uri: URI });
  const next = onward([asked], decided(refused), ["a:1", "a:4"], find);
  assert.deepEqual(next?.ways, [
    { word: "Reject with the one built on it", decisions: [{ ...asked, withOthers: true }] },
  ]);
});

test("what is needed with it is said in the words of what was decided", () => {
  const word = (decision: Choice, name: string, others: string[]) => {
    const asked = aboutHunk(name, URI, { decision });
    return onward([asked], decided([refusal(name, "needsOthers", others)]), [name], find)?.ways[0]?.word;
  };
  assert.equal(word("accept", "a:1", ["b:1"]), "Accept with the one it builds on");
  assert.equal(word("accept", "a:1", ["b:1", "c:1"]), "Accept with the 2 it builds on");
  assert.equal(word("reject", "a:3", ["b:1"]), "Undo with the one built on it");
  assert.equal(word("keepMine", "a:2", ["b:1"]), "Keep mine, and reject the one built on it");
  assert.equal(word("takeTheirs", "a:2", ["b:1"]), "Take the agent's with the one it builds on");
  assert.equal(word("reopen", "x:1", ["b:1"]), "Reopen with the one it needs");
});

test("what stands against it is called by where it is, and the decision by its own words", () => {
  const word = (decision: Choice, name: string, other: string) => {
    const asked = aboutHunk(name, URI, { decision });
    return onward([asked], decided([refusal(name, "collides", [other])]), [name], find)?.ways[0]?.word;
  };
  assert.equal(word("accept", "a:1", "b:1"), "Reject the other, then accept this");
  assert.equal(word("takeTheirs", "a:2", "a:3"), "Undo the other, then take the agent's");
  assert.equal(word("keepBoth", "a:2", "kept:1"), "Undo the other, then keep both");
});

test("a conflicted hunk offers its ways out", () => {
  const next = onward([accept(2)], decided([refusal("a:2", "conflicted")]), ["a:2"], find);
  assert.deepEqual(
    next?.ways.map((way) => way.word),
    ["Keep mine", "Take the agent's", "Keep both", "Edit by hand"],
  );
  const first = next?.ways[0];
  assert.ok(first && "decisions" in first);
  assert.deepEqual(first.decisions, [decide({ decision: "keepMine", uri: URI, edit: "a", hunk: 2 })]);
  assert.deepEqual(next?.ways[3], { word: "Edit by hand", byHand: "a:2" });
});

test("a changed hunk keeps the reason for its rejection", () => {
  const asked = decide({ decision: "reject", uri: URI, edit: "a", hunk: 3, reason: "no" });
  const next = onward([asked], decided([refusal("a:3", "edited")]), ["a:3"], find);
  const way = next?.ways[1];
  assert.ok(way && "decisions" in way);
  assert.deepEqual(way.decisions, [{ ...asked, edited: "undo" }]);
});

test("a collision is solved by rejecting the other first", () => {
  const next = onward([accept(1)], decided([refusal("a:1", "collides", ["b:1"])]), ["a:1"], find);
  const way = next?.ways[0];
  assert.ok(way && "decisions" in way);
  assert.deepEqual(way.decisions, [decide({ decision: "reject", uri: URI, edit: "b", hunk: 1 }), accept(1)]);
});

test("where a conflict held up all, the others can still be decided", () => {
  const asked = decide({ decision: "accept", uri: URI });
  const meant = ["a:1", "a:2", "a:4", "b:1"];
  const next = onward([asked], decided([refusal("a:2", "conflicted")], ["b:1"]), meant, find);
  assert.deepEqual(next?.ways, [{ word: "Accept the 2 others", decisions: [accept(1), accept(4)] }]);
  assert.deepEqual(onward([asked], decided([refusal("a:2", "conflicted")]), ["a:2", "x:1"], find)?.ways, []);
});

test("what cannot be helped is told", () => {
  const refused = [refusal("a:1", "readOnly"), refusal("a:4", "readOnly")];
  const next = onward([decide({ decision: "accept", uri: URI })], decided(refused), ["a:1", "a:4"], find);
  assert.deepEqual(next, { message: "a:1 is readOnly. (and 1 more)", ways: [] });
});
