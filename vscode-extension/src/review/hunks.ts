/** The undecided hunks of one document: which are shown, where they are, which one is meant. */
import type { Edit, Hunk, Lines } from "../protocol";

/** A hunk with what is needed to show, name and decide it: one that is to be decided, or any of a history. */
export interface Entry {
  /** EDIT:NUMBER */
  name: string;
  edit: Edit;
  hunk: Hunk;
  /** Where it is now: a copy, moved along with the typing. None where its place is not known. */
  lines: Lines | undefined;
}

/** A change that turned the lines first..last of a text into first..newLast. */
export interface LineChange {
  first: number;
  last: number;
  newLast: number;
}

export function nameOf(edit: Edit, hunk: Hunk): string {
  return `${edit.id}:${hunk.number}`;
}

/** Whether the proposed lines stand in the text. */
export function isInText(hunk: Hunk): boolean {
  return hunk.state === "inText" || hunk.state === "edited";
}

/** Whether a conflicted hunk can only be rejected: its place is lost, for instance. */
export function isPastTaking(hunk: Hunk): boolean {
  return hunk.state === "conflicted" && !hunk.ways.includes("takeTheirs");
}

/**
 * The undecided hunks in text order. What is about the file itself stands before its first line, what has no place comes last. Parts of
 * another hunk are left out: they are shown and decided with it.
 */
export function entriesOf(edits: readonly Edit[]): Entry[] {
  const entries: Entry[] = [];
  for (const edit of edits) {
    for (const hunk of edit.hunks) {
      const isOpen = hunk.decision === "undecided" || hunk.deciding;
      if (hunk.partOf !== null || hunk.state === "withdrawn" || !isOpen) {
        continue;
      }
      const lines = hunk.file !== null ? { start: 0, end: 0 } : hunk.lines;
      entries.push({ name: nameOf(edit, hunk), edit, hunk, lines: lines ? { ...lines } : undefined });
    }
  }
  return inTextOrder(entries);
}

/** The same by where they begin, what has no place last. */
export function inTextOrder(entries: readonly Entry[]): Entry[] {
  const from = (entry: Entry) => entry.lines?.start ?? Number.POSITIVE_INFINITY;
  // Sorting keeps the order of those that begin together.
  return [...entries].sort((a, b) => (from(a) === from(b) ? 0 : from(a) - from(b)));
}

/** Moves lines along with a change, in place. */
export function shift(lines: Lines, change: LineChange): void {
  const { first, last, newLast } = change;
  const { start, end } = lines;
  const delta = newLast - last;
  if (start >= last) {
    // Lines typed right at a place come before it, as they do for the sidecar.
    lines.start = start + delta;
    lines.end = end + delta;
  } else if (end > first) {
    lines.start = start <= first ? start : Math.min(start, newLast);
    lines.end = Math.max(lines.start, end >= last ? end + delta : Math.min(end, newLast));
  }
}

/** A change that leaves the number of lines as it is: it moves nothing. */
export function isStill({ last, newLast }: LineChange): boolean {
  return last === newLast;
}

/** Moves many along with changes that came one after the other, in place, as `shift` does one by one. */
export function shiftAll(places: readonly Lines[], changes: readonly LineChange[]): void {
  for (const run of runsOf(changes)) {
    for (const lines of places) {
      shiftBy(lines, run);
    }
  }
}

/** Changes from the end of a text to its beginning, as those of one event are: none moves the next. */
interface Run {
  changes: LineChange[];
  /** How many lines the change and those behind it in the list add. */
  added: number[];
}

function runsOf(changes: readonly LineChange[]): Run[] {
  const runs: Run[] = [];
  for (const change of changes) {
    const run = runs.at(-1);
    const before = run?.changes.at(-1);
    if (run && before && change.last <= before.first) {
      run.changes.push(change);
    } else {
      runs.push({ changes: [change], added: [] });
    }
  }
  for (const { changes, added } of runs) {
    let sum = 0;
    for (let index = changes.length - 1; index >= 0; index--) {
      const { last, newLast } = changes[index] as LineChange;
      sum += newLast - last;
      added[index] = sum;
    }
  }
  return runs;
}

/** Only the changes within the lines are looked at one by one: those below do nothing, those above move all of it. */
function shiftBy(lines: Lines, { changes, added }: Run): void {
  const { start, end } = lines;
  const above = firstWith(changes, ({ last }) => start >= last);
  const touching = firstWith(changes, ({ first, last }) => start >= last || end > first);
  for (let index = touching; index < above; index++) {
    shift(lines, changes[index] as LineChange);
  }
  const by = added[above] ?? 0;
  lines.start += by;
  lines.end += by;
}

/** The first of a list that has what all behind it have as well. */
function firstWith<T>(list: readonly T[], has: (item: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (has(list[middle] as T)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** The row that stands for a hunk: its first line, or the line that it would be inserted before. */
export function rowOf(lines: Lines, lineCount: number): number {
  return Math.min(lines.start, Math.max(lineCount - 1, 0));
}

/** The hunk of these, which are in text order, that is meant by a row: one that has it, else one whose place is right before or after it. */
export function hunkAt(entries: readonly Entry[], row: number): Entry | undefined {
  let beside: Entry | undefined;
  for (const entry of entries) {
    const lines = entry.lines;
    if (!lines) {
      continue;
    }
    if (lines.start > row + 1) {
      break;
    }
    if (lines.start <= row && row < lines.end) {
      return entry;
    }
    if (lines.start === lines.end && (lines.start === row || (lines.start === row + 1 && !beside))) {
      beside = entry;
    }
  }
  return beside;
}

/** The hunks that touch the rows first..last, without the last. */
export function hunksTouching(entries: readonly Entry[], first: number, last: number): Entry[] {
  return entries.filter(({ lines }) => {
    if (!lines) {
      return false;
    }
    return lines.start === lines.end
      ? first <= lines.start && lines.start <= last
      : lines.start < last && first < lines.end;
  });
}
