import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { Decisions, type Subject } from "../src/decisions";
import {
  type Cause,
  type Decide,
  type Decided,
  decide,
  type History,
  type HistoryResult,
  MESSAGES,
  type PendingEdits,
  type ProposedText,
} from "../src/protocol";
import { type Entry, nameOf } from "../src/review/hunks";
import type { Review, ReviewDocument } from "../src/review/model";
import type { WayOn } from "../src/review/refusals";
import { meantBy } from "../src/review/target";
import { treeOf } from "../src/review/tree";
import { tallyOf } from "../src/review/wording";
import type { Sidecar } from "../src/sidecar";
import { reviewOf } from "./fixtures";
import { person } from "./vscode";

const DECIDE = "hashline/decide";
const FOLDER = path.resolve("../editors/transcripts");

type Said =
  | { from: string; method: "hashline/pendingEdits"; params: PendingEdits }
  | { from: string; method: "hashline/decide"; params: Decide }
  | { from: string; method: "hashline/proposedText"; params: ProposedText }
  | { from: string; method: "hashline/cause"; params: Cause }
  | { from: string; method: "hashline/history"; params: History }
  | { from: string; method: "hashline/status"; params: null }
  | { from: string; result: HistoryResult; to: "hashline/history" }
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
  const called = { ofUri: (uri: string) => uri, ofPath: (path: string) => path, beforeEdit: () => undefined };
  const leaves = treeOf(review.all(), called).flatMap((agent) => agent.entries.map((entry) => entry.name));
  assert.deepEqual(leaves.toSorted(), shown.toSorted());
}

/** What a decision is about, as commands say it: something that is shown as pending, or in the history. */
function subjectOf(review: Review, past: readonly Entry[], said: Decide): Subject {
  const { uri, edit, hunk, conversation, lines } = said;
  const names = meantBy(decide({ decision: "accept", uri, edit, hunk, conversation, lines }), review.all());
  const pending = names.flatMap((name) => review.find(name)?.entry ?? []);
  const entries = pending.length > 0 ? pending : past.filter(({ name }) => name === `${edit}:${hunk}`);
  assert.ok(entries.length > 0, "what is decided about is shown");
  const target = conversation !== null ? { conversation } : { uri, edit, hunk, lines };
  return { targets: [target], entries };
}

/** A person who decides what the transcript has the plugin say, and a sidecar that answers as it does there. */
class Sitting {
  private readonly decisions: Decisions;
  private readonly said: Decide[] = [];
  private asked = 0;
  /** The hunks of the last history that was asked for. */
  past: readonly Entry[] = [];

  constructor(
    private readonly review: Review,
    private readonly expected: readonly Decide[],
    answers: readonly Decided[],
  ) {
    const sidecar = {
      decide: async (decision: Decide) => {
        this.said.push(decision);
        return answers[this.said.length - 1];
      },
    };
    this.decisions = new Decisions(
      review,
      (name) => review.find(name),
      sidecar as unknown as Sidecar,
      async () => undefined,
    );
    person.choose = (items) => {
      const wanted = this.expected[this.said.length];
      const ways = items as readonly { label: string; way: WayOn }[];
      return ways.find(({ way }) => "decisions" in way && isDeepStrictEqual(way.decisions[0], wanted));
    };
  }

  /** Decides, unless it was said already as the way on from a refusal. */
  async decides(said: Decide): Promise<void> {
    this.asked += 1;
    if (this.said.length < this.asked) {
      await this.act(said);
    }
    // The plugin of Neovim remembers where a decision was made that it reopens; here the hunk's name is enough.
    const expected = said.decision === "reopen" ? { ...said, uri: null } : said;
    assert.deepEqual(this.said[this.asked - 1], expected);
  }

  private async act(said: Decide): Promise<void> {
    if (said.decision === "reopen") {
      return this.decisions.reopen();
    }
    if (said.text !== null) {
      const name = `${said.edit}:${said.hunk}`;
      await this.decisions.accept([name], new Map([[name, said.text]]));
      return;
    }
    const subject = subjectOf(this.review, this.past, said);
    if (said.decision === "comment") {
      return this.decisions.comment(subject, said.reason ?? "");
    }
    await this.decisions.decide(subject, said.decision === "reject" ? "reject" : "accept", said.reason);
  }
}

/** The fields are those of the page. */
function hasFields(said: object | null, fields: readonly string[]): void {
  assert.deepEqual(Object.keys(said ?? {}).toSorted(), fields.toSorted());
}

for (const name of transcripts) {
  test(`transcript ${name}`, async () => {
    const review = reviewOf();
    const lines = readFileSync(path.join(FOLDER, name), "utf8").split("\n").filter(Boolean);
    const messages = lines.map((line): Said => JSON.parse(line));
    const decided = messages.flatMap((said) =>
      "method" in said && said.method === DECIDE ? [said.params] : [],
    );
    const answers = messages.flatMap((said) =>
      "to" in said && said.to === DECIDE ? [said.result as Decided] : [],
    );
    const sitting = new Sitting(review, decided, answers);
    let heard = 0;
    for (const said of messages) {
      if (!("method" in said)) {
        hasFields(said.result, MESSAGES[said.to].result);
        if (said.to === "hashline/history") {
          sitting.past = said.result.edits.flatMap((edit) =>
            edit.hunks.map((hunk) => ({ name: nameOf(edit, hunk), edit, hunk, lines: undefined })),
          );
        }
        continue;
      }
      assert.equal(said.from, MESSAGES[said.method].from);
      hasFields(said.params, MESSAGES[said.method].params);
      if (said.method === "hashline/pendingEdits") {
        heard += 1;
        review.receive(said.params);
        shows(review, said.params);
      } else if (said.method === DECIDE) {
        await sitting.decides(said.params);
      }
    }
    assert.ok(heard > 0, "the sidecar says something");
  });
}
