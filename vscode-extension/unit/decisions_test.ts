import assert from "node:assert/strict";
import { test } from "node:test";
import { Decisions } from "../src/decisions";
import { type Decide, type Decided, decide, type Refusal } from "../src/protocol";
import type { Entry } from "../src/review/hunks";
import type { Sidecar } from "../src/sidecar";
import { conflicted, edit, hunk, list, reviewOf } from "./fixtures";
import { person, sent } from "./vscode";

const URI = "file:///p/a.js";

/** Decisions about a document, and a sidecar that answers so; one that has no answer takes what it is told, or has ended. */
function decisions(answers: (Partial<Decided> | Error)[] = []) {
  const review = reviewOf(
    list([
      edit("a", [hunk(), conflicted({ number: 2 })]),
      edit("b", [hunk({ dependsOn: ["a:1"] })]),
      // Decided as one, of which the upper one is built on another turn's, too.
      edit("c", [hunk()]),
      edit("d", [hunk({ partOf: "c:1", dependsOn: ["b:1"] })]),
    ]),
  );
  const said: Decide[] = [];
  const sidecar = {
    decide: async (decision: Decide): Promise<Decided> => {
      said.push(decision);
      const answer = answers.shift() ?? { queued: [`${decision.edit}:${decision.hunk}`] };
      if (answer instanceof Error) {
        throw answer;
      }
      return { queued: [], refused: [], ...answer };
    },
  } as unknown as Sidecar;
  // What was decided is in no list; the history has it.
  const decided = edit("past", [
    hunk({ state: "inText", decision: "accepted" }),
    hunk({ number: 2, state: "edited", decision: "accepted" }),
  ]);
  const past = decided.hunks.map((one) => ({
    name: `past:${one.number}`,
    edit: decided,
    hunk: one,
    lines: undefined,
  }));
  const find = (name: string) => {
    const entry = past.find((candidate) => candidate.name === name);
    return review.find(name) ?? (entry && { document: { uri: URI, entries: past }, entry });
  };
  person.told = [];
  person.choose = () => undefined;
  return { past, all: new Decisions(review, find, sidecar, async () => undefined), said, review };
}

const refusal = (name: string, why: Refusal["why"]): Refusal => ({
  hunk: name,
  why,
  message: `${name} is ${why}.`,
  others: [],
});

const reject = (number: number) => decide({ decision: "reject", uri: URI, edit: "a", hunk: number });

test("the last decision is reopened, wherever it was made", async () => {
  const { all, said } = decisions();
  await all.command(reject(1));
  await all.command(reject(2));
  await all.reopen();
  await all.reopen();
  assert.deepEqual(
    said.map(({ decision, hunk }) => [decision, hunk]),
    [
      ["reject", 1],
      ["reject", 2],
      ["reopen", 2],
      ["reopen", 1],
    ],
  );
  assert.equal(all.canReopen, false);
});

test("what is refused of a reopening can be reopened later; what is gone cannot", async () => {
  const { all, said } = decisions([
    { queued: ["a:1", "a:2", "b:1"] },
    { queued: ["a:1"] },
    { refused: [refusal("a:2", "failed")] },
    { refused: [refusal("b:1", "gone")] },
  ]);
  await all.command(decide({ decision: "reject", uri: URI }));
  await all.reopen();
  assert.deepEqual([all.canReopen, person.told], [true, ["Hashline: a:2 is failed. (and 1 more)"]]);
  await all.reopen();
  assert.deepEqual(
    said.slice(4).map(({ edit, hunk }) => `${edit}:${hunk}`),
    ["a:2"],
  );
  assert.equal(all.canReopen, false);
});

test("while the sidecar is down nothing is forgotten", async () => {
  const { all } = decisions([{ queued: ["a:1"] }, new Error("the sidecar is not running")]);
  await all.command(reject(1));
  await all.reopen();
  assert.deepEqual(person.told, ["Hashline: not decided: the sidecar is not running."]);
  assert.equal(all.canReopen, true);
});

test("a decision of a code action that is refused has its ways on", async () => {
  const { all, said } = decisions([{ refused: [refusal("a:2", "conflicted")] }]);
  person.choose = (items) => items.find(({ label }) => label === "Keep both");
  await all.command(decide({ decision: "accept", uri: URI, edit: "a", hunk: 2 }));
  assert.deepEqual(
    said.map(({ decision }) => decision),
    ["accept", "keepBoth"],
  );
});

test("what a comparison accepts: refusals come back, and a sidecar that is down is no acceptance", async () => {
  const refused = [refusal("a:2", "conflicted")];
  const { all } = decisions([{ queued: ["a:1"] }, { refused }]);
  assert.deepEqual(await all.accept(["a:1", "a:2"], new Map()), refused);
  assert.deepEqual(person.told, [], "who asked for it says so");
  const down = decisions([{ queued: ["a:1"] }, new Error("the sidecar is not running")]);
  await assert.rejects(down.all.accept(["a:1", "b:1"], new Map()), /not running/);
  assert.equal(down.all.canReopen, true, "what was taken before can be reopened");
});

test("what a comparison accepts: as it is with what it needs, changed with what it is built on, emptied not at all", async () => {
  const { all, said } = decisions();
  const texts = new Map([
    ["a:1", ["two"]],
    ["b:1", ["mine"]],
    ["c:1", ["ours"]],
  ]);
  await all.accept(["a:1", "a:2", "b:1", "c:1"], texts);
  assert.deepEqual(
    said.map(({ decision, text, withOthers }) => [decision, text, withOthers]),
    [
      ["reject", null, false],
      ["accept", null, true],
      ["accept", ["mine"], true],
      ["accept", ["ours"], true],
    ],
  );
});

test("after a decision it is said what it came to, what the agent was told, and what is left", async () => {
  const { all, review } = decisions();
  const subject = (name: string) => {
    const entry = review.find(name)?.entry;
    assert.ok(entry);
    return { targets: [{ uri: URI, edit: entry.edit.id, hunk: entry.hunk.number }], entries: [entry] };
  };
  sent.length = 0;
  await all.decide(subject("a:1"), "accept");
  await all.decide(subject("b:1"), "reject", "use a constant");
  await all.reopen();
  assert.deepEqual(sent, [
    "Accepted. 3 left in 1 other file",
    'Rejected. Told claude-code: "use a constant". 3 left in 1 other file',
    "Reopened. 4 left in 1 other file",
  ]);
});

test("of what was refused nothing is said to be done", async () => {
  const { all } = decisions([{ refused: [refusal("a:1", "gone")] }]);
  sent.length = 0;
  await all.command(reject(1));
  assert.deepEqual(sent, []);
});

test("a hunk that was decided long ago is decided like one that is pending", async () => {
  const { all, said, past } = decisions();
  const [first, second] = past as [Entry, Entry];
  const about = (entry: Entry) => ({
    targets: [{ uri: URI, edit: "past", hunk: entry.hunk.number }],
    entries: [entry],
  });
  sent.length = 0;
  await all.decide(about(first), "reject", "not so");
  assert.deepEqual(said, [decide({ decision: "reject", uri: URI, edit: "past", hunk: 1, reason: "not so" })]);
  assert.match(
    sent.join("\n"),
    /Undone\. Told claude-code: "not so"/,
    "its words are those for what is in the text",
  );
  person.choose = (items) => items.find(({ label }) => label === "Undo it, keep my lines");
  await all.decide(about(second), "reject");
  assert.deepEqual(said[1], decide({ decision: "reject", uri: URI, edit: "past", hunk: 2, edited: "keep" }));
  await all.reopenHunk(first);
  assert.deepEqual(said[2], decide({ decision: "reopen", edit: "past", hunk: 1 }));
  await all.reopen();
  assert.equal(said[3]?.hunk, 2, "the one that was reopened is not the last decision any longer");
  await all.reopen();
  assert.equal(said.length, 4);
});

test("a comment decides nothing, and it is said who was told", async () => {
  const { all, said, review } = decisions();
  const { entry } = review.find("a:1") ?? assert.fail();
  sent.length = 0;
  await all.comment({ targets: [{ uri: URI, edit: "a", hunk: 1 }], entries: [entry] }, "is it used?");
  assert.deepEqual(said, [
    decide({ decision: "comment", uri: URI, edit: "a", hunk: 1, reason: "is it used?" }),
  ]);
  assert.match(sent.join("\n"), /Told claude-code: "is it used\?"\. \d+ left/);
  assert.equal(all.canReopen, false, "there is nothing to reopen");
});
