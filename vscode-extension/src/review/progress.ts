/** What a decision came to, and what is left, in a line. */
import type { Choice, Hunk } from "../protocol";
import { type Entry, isInText } from "./hunks";
import { counted } from "./wording";

const DONE: Record<Choice, string> = {
  accept: "Accepted",
  reject: "Rejected",
  keepMine: "Kept yours",
  takeTheirs: "Took the agent's",
  keepBoth: "Kept both",
  reopen: "Reopened",
  comment: "Commented",
};

/** "Accepted", or "Kept" of what was in the text. */
export function doneInWords(decision: Choice, hunks: readonly Hunk[]): string {
  if (hunks.length > 0 && hunks.every(isInText)) {
    if (decision === "accept") {
      return "Kept";
    }
    if (decision === "reject") {
      return "Undone";
    }
  }
  return DONE[decision];
}

/** How much is to be decided in the file in front, and beside it. */
export interface Left {
  here: number;
  elsewhere: number;
  /** How many other files that is in. */
  files: number;
}

/**
 * @param here the key of the file in front, if there is one
 * @param gone the names of hunks that do not count any more: lists come later than decisions
 */
export function leftIn(
  documents: readonly { key: string; entries: readonly Entry[] }[],
  here: string | undefined,
  gone: ReadonlySet<string> = new Set(),
): Left {
  const counts = documents.map(({ key, entries }) => ({
    key,
    count: entries.filter(({ name, hunk }) => !gone.has(name) && !hunk.deciding).length,
  }));
  const others = counts.filter(({ key, count }) => key !== here && count > 0);
  return {
    here: counts.find(({ key }) => key === here)?.count ?? 0,
    elsewhere: others.reduce((sum, { count }) => sum + count, 0),
    files: others.length,
  };
}

/** "2 left here, 3 in 2 other files" */
export function leftInWords({ here, elsewhere, files }: Left): string {
  if (here + elsewhere === 0) {
    return "Nothing is left to decide";
  }
  if (elsewhere === 0) {
    return `${here} left here`;
  }
  const others = counted(files, "other file");
  return here === 0 ? `${elsewhere} left in ${others}` : `${here} left here, ${elsewhere} in ${others}`;
}

/** What there is to decide, where the person meant something that is not there. */
export function insteadInWords(what: string, { here, elsewhere, files }: Left): string {
  if (here > 0) {
    return `${what}. ${here} in this file: Go to Next Hunk`;
  }
  return elsewhere > 0 ? `${what}. ${elsewhere} in ${counted(files, "other file")}: Go to Next Hunk` : what;
}
