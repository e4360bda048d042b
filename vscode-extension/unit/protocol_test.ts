import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { type Decide, type Decided, MESSAGES, type PendingEdits } from "../src/protocol";
import type { Review } from "../src/review/model";
import { aboutHunk } from "../src/review/refusals";
import { treeOf } from "../src/review/tree";
import { tallyOf } from "../src/review/wording";
import { reviewOf } from "./fixtures";

const FOLDER = path.resolve("../editors/transcripts");

type Said =
  | { from: string; method: "hashline/pendingEdits"; params: PendingEdits }
  | { from: string; method: "hashline/decide"; params: Decide }
  | { from: string; result: Decided; to: string };

const transcripts = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl"));
assert.ok(transcripts.length > 0, `there are no transcripts in ${FOLDER}`);

const undecided = ({ edits }: PendingEdits) =>
  edits
    .flatMap(({ id, hunks }) => hunks.map((hunk) => ({ name: `${id}:${hunk.number}`, hunk })))
    .filter(({ hunk }) => hunk.decision === "undecided" && hunk.partOf === null)
    .map(({ name }) => name);

/** What is shown after a list is what the list says is undecided, in the tree as well. */
function shows(review: Review, list: PendingEdits): void {
  const shown = review.of(list.uri)?.entries.map((entry) => entry.name) ?? [];
  assert.deepEqual(shown.toSorted(), undecided(list).toSorted());
  assert.equal(tallyOf(review.all()).hunks, shown.length);
  const leaves = treeOf(review.all(), (uri) => uri).flatMap((agent) =>
    agent.entries.map((entry) => entry.name),
  );
  assert.deepEqual(leaves.toSorted(), shown.toSorted());
}

/** What the person says in the tree about this hunk is what the transcript has the plugin say. */
function says(review: Review, { uri, edit, hunk, ...said }: Decide): void {
  const name = `${edit}:${hunk}`;
  assert.ok(review.find(name), `${name} is not shown`);
  const { decision, reason, edited, withOthers, text } = said;
  const own = aboutHunk(name, uri, { decision, reason, edited, withOthers, text });
  assert.deepEqual(own, { uri, edit, hunk, ...said });
  assert.deepEqual(Object.keys(own).toSorted(), [...MESSAGES["hashline/decide"].params].toSorted());
}

for (const name of transcripts) {
  test(`transcript ${name}`, () => {
    const review = reviewOf();
    let heard = 0;
    for (const line of readFileSync(path.join(FOLDER, name), "utf8").split("\n").filter(Boolean)) {
      const said: Said = JSON.parse(line);
      if (!("method" in said)) {
        assert.deepEqual(Object.keys(said.result), [...MESSAGES["hashline/decide"].result]);
        continue;
      }
      assert.equal(said.from, MESSAGES[said.method].from);
      if (said.method === "hashline/pendingEdits") {
        heard += 1;
        review.receive(said.params);
        shows(review, said.params);
      } else if (said.params.hunk !== null) {
        says(review, said.params);
      }
    }
    assert.ok(heard > 0, "the sidecar says something");
  });
}
