/** What differs between two lists: lines of a text, or words of a line. */
import { diffArrays } from "diff";
import type { LineChange } from "./hunks";

/** Beyond so many changes a comparison would be felt: then it is one change from the first difference to the last. */
const MOST_CHANGES = 500;

/** A run that differs, for the old list, and what stands there now. */
export interface Run {
  change: LineChange;
  made: string[];
}

/** The runs that differ, from the first to the last. */
export function changesBetween(a: readonly string[], b: readonly string[]): Run[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    start += 1;
  }
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  if (start === endA && start === endB) {
    return [];
  }
  const made = b.slice(start, endB);
  const parts = diffArrays(a.slice(start, endA), made, { maxEditLength: MOST_CHANGES });
  if (!parts) {
    return [{ change: { first: start, last: endA, newLast: endB }, made }];
  }
  const runs: Run[] = [];
  let at = start;
  let open: Run | undefined;
  for (const { added, removed, value } of parts) {
    if (!added && !removed) {
      at += value.length;
      open = undefined;
      continue;
    }
    if (!open) {
      open = { change: { first: at, last: at, newLast: at }, made: [] };
      runs.push(open);
    }
    if (removed) {
      at += value.length;
      open.change.last = at;
    } else {
      open.made.push(...value);
      open.change.newLast = open.change.first + open.made.length;
    }
  }
  return runs;
}
