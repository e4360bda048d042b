/** Texts for a comparison: without the hunks that are in the text, and what the person made of the one with the held ones in it. */
import type { Lines } from "../protocol";
import { type Entry, isInText, type LineChange, shift } from "./hunks";

/** The lines of a text, without their ends, and the kind of ending that it has first. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

/** A text with the hunks that are in it taken out: what stood there before. */
export function withoutHunks(text: string, entries: readonly Entry[]): string {
  const ending = /\r\n|\r|\n/.exec(text)?.[0] ?? "\n";
  const lines = linesOf(text);
  const inText = entries.filter((entry) => isInText(entry.hunk) && entry.lines);
  // From the end, so that line numbers stay right.
  for (const { hunk, lines: place } of inText.reverse()) {
    const { start, end } = place as Lines;
    lines.splice(start, end - start, ...hunk.removed);
  }
  return lines.join(ending);
}

/** A held hunk in the text that has it. */
export interface Proposed {
  name: string;
  /** Where it is in the text that has it. */
  lines: Lines;
  proposed: readonly string[];
  /** What it replaces in the text that has it not. */
  removed: readonly string[];
}

/**
 * Where the held hunks are in the text that has them in it: each takes as many lines there as it proposes, and moves what comes after it.
 * Hunks without a place, conflicted ones and those about the file itself are not in that text.
 */
export function placesOfProposed(entries: readonly Entry[]): Proposed[] {
  let moved = 0;
  const found: Proposed[] = [];
  for (const { name, hunk, lines } of entries) {
    if (hunk.state !== "held" || hunk.file !== null || !lines) {
      continue;
    }
    const { proposed, removed } = hunk;
    const start = lines.start + moved;
    found.push({ name, lines: { start, end: start + proposed.length }, proposed, removed });
    moved += proposed.length - (lines.end - lines.start);
  }
  return found;
}

/** Lines to put in place of others. */
export interface LineEdit extends Lines {
  lines: string[];
}

/** What the person has made of the text with the held hunks in it. */
export interface Revision {
  /** By the name of the hunk: its lines as the person has them. */
  revised: Map<string, string[]>;
  /** What the person has changed elsewhere, for the text that has the hunks not in it, from its end to its beginning. */
  elsewhere: LineEdit[];
  /** A change goes over the edge of a hunk: nobody can say which part of it is whose. */
  torn: boolean;
}

/** @param before the text as it was proposed @param after as the person has it now */
export function revisionOf(before: string, after: string, hunks: readonly Proposed[]): Revision {
  const now = linesOf(after);
  const places = hunks.map((hunk) => ({ ...hunk, now: { ...hunk.lines } }));
  const revision: Revision = { revised: new Map(), elsewhere: [], torn: false };
  // From the end, so that the lines before a change are those of the old text.
  for (const { change, made } of changesBetween(linesOf(before), now).reverse()) {
    const { first, last, newLast } = change;
    const within = places.find(({ lines }) => lines.start <= first && last <= lines.end);
    const over = places.some(({ lines }) => lines.start < last && first < lines.end);
    if (within) {
      within.now.end += newLast - last;
    } else if (over) {
      revision.torn = true;
    } else {
      const moved = places.filter(({ lines }) => lines.end <= first);
      const by = moved.reduce((sum, { proposed, removed }) => sum + proposed.length - removed.length, 0);
      revision.elsewhere.push({ start: first - by, end: last - by, lines: made });
    }
    for (const place of places) {
      if (place !== within && place.lines.start >= last) {
        shift(place.now, change);
      }
    }
  }
  for (const place of places) {
    const own = now.slice(place.now.start, place.now.end);
    if (own.length !== place.proposed.length || own.some((line, index) => line !== place.proposed[index])) {
      revision.revised.set(place.name, own);
    }
  }
  return revision;
}

/** Beyond so many cells a comparison would be felt: then it is one change from the first difference to the last. */
const MOST_CELLS = 4_000_000;

/** A run of lines that differ, for the old text, and the lines that stand there now. */
interface Run {
  change: LineChange;
  made: string[];
}

/** The runs of lines that differ, from the first to the last. */
function changesBetween(a: readonly string[], b: readonly string[]): Run[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    start += 1;
  }
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  ) {
    end += 1;
  }
  const [rows, columns] = [a.length - start - end, b.length - start - end];
  if (rows === 0 && columns === 0) {
    return [];
  }
  if (rows * columns > MOST_CELLS) {
    const change = { first: start, last: start + rows, newLast: start + columns };
    return [{ change, made: b.slice(start, start + columns) }];
  }
  return commonRuns(a.slice(start, start + rows), b.slice(start, start + columns), start);
}

function commonRuns(a: readonly string[], b: readonly string[], offset: number): Run[] {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const changes: Run[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i += 1;
      j += 1;
      continue;
    }
    const [first, from] = [i, j];
    while ((i < a.length || j < b.length) && !(i < a.length && j < b.length && a[i] === b[j])) {
      if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
        i += 1;
      } else {
        j += 1;
      }
    }
    const change = { first: offset + first, last: offset + i, newLast: offset + first + (j - from) };
    changes.push({ change, made: b.slice(from, j) });
  }
  return changes;
}
