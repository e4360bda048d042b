/** Hunks, edits and lists for the tests, with what a test says of them. */
import type { Edit, Hunk, PendingEdits } from "../src/protocol";
import { Review } from "../src/review/model";

export function hunk(said: Partial<Hunk> = {}): Hunk {
  return {
    number: 1,
    state: "held",
    decision: "undecided",
    deciding: false,
    lines: { start: 1, end: 2 },
    removed: ["two"],
    proposed: ["TWO"],
    partOf: null,
    dependsOn: [],
    conflict: null,
    file: null,
    ways: ["accept", "reject"],
    ...said,
  };
}

export const conflicted = (said: Partial<Hunk> = {}) =>
  hunk({
    state: "conflicted",
    conflict: "You changed a line that this edit replaces.",
    ways: ["keepMine", "takeTheirs", "keepBoth"],
    ...said,
  });

export function edit(id: string, hunks: Hunk[], said: Partial<Edit> = {}): Edit {
  return {
    id,
    agent: "claude-code",
    connection: "c1",
    conversation: "conv",
    tool: "edit_text_file",
    mode: "propose",
    status: "pending",
    hunks,
    ...said,
  };
}

export function list(edits: Edit[], said: Partial<PendingEdits> = {}): PendingEdits {
  return { uri: "file:///p/a.js", version: 1, owner: null, readOnly: false, edits, ...said };
}

/** What is known after these lists. */
export function reviewOf(...lists: PendingEdits[]): Review {
  const review = new Review((uri) => uri);
  for (const one of lists) {
    if (one.version !== null) {
      review.opened(one.uri);
    }
    review.receive(one);
  }
  return review;
}
