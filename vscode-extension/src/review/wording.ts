/** What the person reads about hunks, in one place: Accept and Reject for what is held, Keep and Undo for what is in the text. */
import type { Choice, Hunk, Lines } from "../protocol";
import { baseOf, fileChangeOf } from "./fileChange";
import { type Entry, isInText, isPastTaking } from "./hunks";

/** Which pair of verbs fits: for what is held, or for what is in the text already. */
export type Verbs = "held" | "inText";

export const VERBS = {
  held: { accept: "Accept", reject: "Reject" },
  inText: { accept: "Keep", reject: "Undo" },
} as const;

/** Keep and Undo only where all of them are in the text. */
export function verbsFor(hunks: readonly Hunk[]): Verbs {
  return hunks.length > 0 && hunks.every(isInText) ? "inText" : "held";
}

/** A count with its noun. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

/** As in "09:05". */
export function timeOfDay(moment: Date): string {
  return `${twoDigits(moment.getHours())}:${twoDigits(moment.getMinutes())}`;
}

/** What becomes of the file of a hunk that is about the file itself, or has become of it. */
export function fileWords(hunk: Hunk): string | undefined {
  const change = fileChangeOf(hunk);
  const isDone = isInText(hunk);
  switch (change?.kind) {
    case undefined:
      return undefined;
    case "create":
      return isDone ? "created" : "to be created";
    case "remove":
      return isDone ? "deleted" : "to be deleted";
    case "rename":
      return isDone ? "renamed" : `→ ${baseOf(change.to)}`;
    case "other":
      return change.words;
  }
}

/** How large a hunk is, as in "+2 −1", or what it does to the file. */
export function sizeOf(hunk: Hunk): string {
  return fileWords(hunk) ?? sizeOfAll([hunk]);
}

/** How large hunks are together. */
export function sizeOfAll(hunks: readonly Hunk[]): string {
  const sum = (count: (hunk: Hunk) => number) => hunks.reduce((all, hunk) => all + count(hunk), 0);
  const [more, less] = [sum(({ proposed }) => proposed.length), sum(({ removed }) => removed.length)];
  return [...(more > 0 ? [`+${more}`] : []), ...(less > 0 ? [`−${less}`] : [])].join(" ");
}

/** The same in words, for those who listen. */
export function sizeInWords(hunk: Hunk): string {
  const { proposed, removed } = hunk;
  const change = fileChangeOf(hunk);
  if (change) {
    const renamed = change.kind === "rename" && !isInText(hunk);
    return renamed ? `to be renamed ${baseOf(change.to)}` : (fileWords(hunk) ?? "");
  }
  if (proposed.length === 0) {
    return `${counted(removed.length, "line")} removed`;
  }
  if (removed.length === 0) {
    return `${counted(proposed.length, "line")} inserted`;
  }
  if (removed.length === proposed.length) {
    return `${counted(removed.length, "line")} replaced`;
  }
  return `${counted(removed.length, "line")} replaced by ${proposed.length}`;
}

/** Where a hunk is, counted from 1. */
export function placeOf(lines: Lines | undefined): string {
  if (!lines) {
    return "place lost";
  }
  if (lines.start === lines.end) {
    return lines.start === 0 ? "before line 1" : `after line ${lines.start}`;
  }
  return lines.end - lines.start === 1 ? `line ${lines.start + 1}` : `lines ${lines.start + 1}–${lines.end}`;
}

const STATES: Record<Hunk["state"], string> = {
  held: "held",
  inText: "in the text",
  edited: "changed by you",
  conflicted: "conflicted",
  withdrawn: "withdrawn",
};

export function stateOf(hunk: Hunk): string {
  return hunk.deciding ? "deciding…" : STATES[hunk.state];
}

/** The first line of a hunk that says something; of one about the file itself, what can be decided. */
export function gistOf(hunk: Hunk, isSpoken = false): string {
  const words = fileWords(hunk) && (isSpoken ? sizeInWords(hunk) : fileWords(hunk));
  if (words !== undefined) {
    const ways = waysFor(hunk).map(({ word }) => word.toLowerCase());
    return ways.length > 0 ? `${words}: ${ways.join(" or ")}` : words;
  }
  const lines = hunk.proposed.length > 0 ? hunk.proposed : hunk.removed;
  const line = lines.find((candidate) => candidate.trim() !== "")?.trim() ?? "empty line";
  return hunk.proposed.length > 0 ? line : `remove ${line}`;
}

/** That a hunk is decided elsewhere, where it is. */
export function elsewhereInWords({ readOnly, owner }: { readOnly: boolean; owner: string | null }): string[] {
  return readOnly ? [`decided in ${owner ?? "another editor"}`] : [];
}

/** What there is to know of a hunk beside what it does: why it was made, what stands against it, and what the person said. */
export function circumstancesOf({ edit, hunk }: Entry): string[] {
  return [
    ...(edit.reason ? [edit.reason] : []),
    ...(hunk.state === "conflicted" ? [conflictOf(hunk)] : []),
    ...toldInWords(hunk),
  ];
}

/** What its agent was told. */
export function toldInWords({ reason }: Hunk): string[] {
  return reason ? [`told "${reason}"`] : [];
}

/** Where one is, when one goes from hunk to hunk. */
export function announcement(
  entry: Entry,
  document: { readOnly: boolean; owner: string | null },
  position: number,
  total: number,
  file: string,
): string {
  const { edit, hunk, lines } = entry;
  const where = hunk.file === null ? `${file} ${placeOf(lines)}` : file;
  // What became of a file says that it is done.
  const state = hunk.file !== null && isInText(hunk) && !hunk.deciding ? [] : [stateOf(hunk)];
  return [
    `hunk ${position} of ${total}`,
    where,
    sizeInWords(hunk),
    ...state,
    ...elsewhereInWords(document),
    edit.agent,
    ...circumstancesOf(entry),
  ].join(", ");
}

/** What one can do with a hunk. `edited` and `byHand` are part of what is to be decided. */
export interface Way {
  word: string;
  decision: Choice | "byHand";
  edited?: "undo" | "keep";
}

/** What a decision is called. */
export function wordFor(decision: Choice, verbs: Verbs): string {
  switch (decision) {
    case "accept":
    case "reject":
      return VERBS[verbs][decision];
    case "keepMine":
      return "Keep mine";
    case "takeTheirs":
      return "Take the agent's";
    case "keepBoth":
      return "Keep both";
    case "reopen":
      return "Reopen";
    case "comment":
      return "Comment";
  }
}

/** The same together with the hunks that it needs. */
export function wordWithOthers(decision: Choice, verbs: Verbs, others: number): string {
  const word = wordFor(decision, verbs);
  const them = others === 1 ? "the one" : `the ${others}`;
  switch (decision) {
    case "reject":
      return `${word} with ${them} built on it`;
    case "keepMine":
      return `${word}, and reject ${them} built on it`;
    case "reopen":
      return `${word} with ${them} it needs`;
    default:
      return `${word} with ${them} it builds on`;
  }
}

/** The same after the one that stands against it was taken away. */
export function wordAfterOther(decision: Choice, verbs: Verbs, other: Verbs): string {
  const word = wordFor(decision, verbs).toLowerCase();
  const object = decision === "takeTheirs" || decision === "keepBoth" ? "" : " this";
  return `${VERBS[other].reject} the other, then ${word}${object}`;
}

/** The decisions that can be made about a hunk as it stands, in the words for them. */
export function waysFor(hunk: Hunk): Way[] {
  if (hunk.deciding) {
    return [];
  }
  const verbs = verbsFor([hunk]);
  if (hunk.state === "edited") {
    return [
      { word: "Keep", decision: "accept" },
      { word: "Undo it, my changes too", decision: "reject", edited: "undo" },
      { word: "Undo it, keep my lines", decision: "reject", edited: "keep" },
    ];
  }
  const ways: Way[] = hunk.ways.map((decision) => ({
    word: wordFor(decision, verbs),
    decision,
  }));
  if (hunk.state === "conflicted" && !isPastTaking(hunk)) {
    ways.push({ word: "Edit by hand", decision: "byHand" });
  }
  return ways;
}

/**
 * The heading of a hunk, in place.
 *
 * @param left how many hunks are to be decided in its file
 */
export function headingOf(entry: Entry, left: number): string {
  const { edit, hunk } = entry;
  const parts = [edit.agent, sizeOf(hunk)];
  if (hunk.state === "conflicted" || hunk.state === "edited" || hunk.deciding) {
    parts.push(stateOf(hunk));
  }
  if (left > 1) {
    parts.push(`#${hunk.number}`, `${left} left`);
  }
  if (edit.reason) {
    parts.push(edit.reason);
  }
  return [...parts, ...toldInWords(hunk)].join(" · ");
}

/** What stands against a conflicted hunk. */
export function conflictOf(hunk: Hunk): string {
  return hunk.conflict ?? "You changed lines that this edit replaces.";
}

/** How much there is to decide: in the status bar, beside the tree, in badges. */
export interface Tally {
  hunks: number;
  conflicted: number;
  files: number;
  agents: string[];
}

export function tallyOf(documents: readonly { entries: readonly Entry[] }[]): Tally {
  const entries = documents.flatMap((document) => document.entries);
  return {
    hunks: entries.length,
    conflicted: entries.filter((entry) => entry.hunk.state === "conflicted").length,
    files: documents.filter((document) => document.entries.length > 0).length,
    agents: [...new Set(entries.map((entry) => entry.edit.agent))].sort(),
  };
}

/** "3 in 2 files, 1 conflicted" */
export function tallyInBrief({ hunks, files, conflicted }: Tally): string {
  return `${hunks} in ${counted(files, "file")}${conflicted > 0 ? `, ${conflicted} conflicted` : ""}`;
}

/** "3 hunks to decide in 2 files, 1 conflicted" */
export function tallyInWords(tally: Tally): string {
  const conflicted = tally.conflicted > 0 ? `, ${tally.conflicted} conflicted` : "";
  return `${counted(tally.hunks, "hunk")} to decide in ${counted(tally.files, "file")}${conflicted}`;
}

/** "claude-code waits"; nothing where nobody does. */
export function waitingInWords(agents: readonly string[]): string[] {
  return agents.length === 0 ? [] : [`${agents.join(", ")} ${agents.length === 1 ? "waits" : "wait"}`];
}
