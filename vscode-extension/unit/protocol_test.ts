import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { type Decide, MESSAGES, type PendingEdits, type ProposedText, type Undo } from "../src/protocol";
import type { Review, ReviewDocument } from "../src/review/model";
import { aboutHunk } from "../src/review/refusals";
import { treeOf } from "../src/review/tree";
import { tallyOf } from "../src/review/wording";
import { reviewOf } from "./fixtures";

const FOLDER = path.resolve("../editors/transcripts");

type Said =
  | { from: string; method: "hashline/pendingEdits"; params: PendingEdits }
  | { from: string; method: "hashline/decide"; params: Decide }
  | { from: string; method: "hashline/proposedText"; params: ProposedText }
  | { from: string; method: "hashline/undo"; params: Undo }
  | { from: string; method: "hashline/status"; params: null }
  | { from: string; result: object; to: "hashline/decide" | "hashline/proposedText" | "hashline/status" };

const transcripts = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl"));
assert.ok(transcripts.length > 0, `there are no transcripts in ${FOLDER}`);

const undecided = ({ edits }: PendingEdits) =>
  edits
    .flatMap(({ id, hunks }) => hunks.map((hunk) => ({ name: `${id}:${hunk.number}`, hunk })))
    .filter(({ hunk }) => hunk.decision === "undecided" && hunk.partOf === null)
    .map(({ name }) => name);

/** What is shown after a list is what the list says is undecided, in the tree as well. */
function shows(review: Review, list: PendingEdits): void {
  const names = (document: ReviewDocument) => document.entries.map((entry) => entry.name);
  const shown = review.all().flatMap(names);
  const of = review.of(list.uri);
  assert.deepEqual((of ? names(of) : []).toSorted(), undecided(list).toSorted());
  assert.equal(tallyOf(review.all()).hunks, shown.length);
  const leaves = treeOf(review.all(), (uri) => uri).flatMap((agent) =>
    agent.entries.map((entry) => entry.name),
  );
  assert.deepEqual(leaves.toSorted(), shown.toSorted());
}

/** What the person says in the tree about this hunk is what the transcript has the plugin say. */
function says(review: Review, { uri, edit, hunk, ...said }: Decide): void {
  const name = `${edit}:${hunk}`;
  const { decision, reason, edited, withOthers, text } = said;
  // Only what is decided is taken back, and that is no longer shown.
  assert.equal(review.find(name) !== undefined, decision !== "reopen", `${name} is shown`);
  const own = aboutHunk(name, uri, { decision, reason, edited, withOthers, text });
  assert.deepEqual(own, { uri, edit, hunk, ...said });
}

/** The fields are those of the page. */
function hasFields(said: object | null, fields: readonly string[]): void {
  assert.deepEqual(Object.keys(said ?? {}).toSorted(), fields.toSorted());
}

for (const name of transcripts) {
  test(`transcript ${name}`, () => {
    const review = reviewOf();
    let heard = 0;
    for (const line of readFileSync(path.join(FOLDER, name), "utf8").split("\n").filter(Boolean)) {
      const said: Said = JSON.parse(line);
      if (!("method" in said)) {
        hasFields(said.result, MESSAGES[said.to].result);
        continue;
      }
      assert.equal(said.from, MESSAGES[said.method].from);
      hasFields(said.params, MESSAGES[said.method].params);
      if (said.method === "hashline/pendingEdits") {
        heard += 1;
        review.receive(said.params);
        shows(review, said.params);
      } else if (said.method === "hashline/decide" && said.params.hunk !== null) {
        says(review, said.params);
      }
    }
    assert.ok(heard > 0, "the sidecar says something");
  });
}
