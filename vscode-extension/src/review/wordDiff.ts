/** Which parts of a line changed, for a highlight inside replaced lines. */
import { changesBetween } from "./changes";

/** From and to a column, in UTF-16 units. */
export type Span = readonly [number, number];

// Beyond these a comparison costs more than it shows.
const LONGEST = 1000;
const MOST_PIECES = 200;
const MOST_LINES = 100;

/** Words, runs of blanks and single other characters. */
function piecesOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? [];
}

/** The changed spans of two lines; none where they are equal or have too little in common. */
export function changedSpans(before: string, after: string): { before: Span[]; after: Span[] } {
  const none = { before: [], after: [] };
  if (before === after || before.length > LONGEST || after.length > LONGEST) {
    return none;
  }
  const a = piecesOf(before);
  const b = piecesOf(after);
  if (a.length > MOST_PIECES || b.length > MOST_PIECES) {
    return none;
  }
  const spans: { before: Span[]; after: Span[] } = { before: [], after: [] };
  let shift = 0;
  for (const { change, made } of changesBetween(a, b)) {
    const { first, last } = change;
    if (first < last) {
      spans.before.push(spanOf(a, first, last));
    }
    if (made.length > 0) {
      spans.after.push(spanOf(b, first + shift, first + shift + made.length));
    }
    shift += made.length - (last - first);
  }
  const size = (found: Span[]) => found.reduce((sum, [from, to]) => sum + to - from, 0);
  const changed = size(spans.before) + size(spans.after);
  return changed > 0.7 * (before.length + after.length) ? none : spans;
}

/** Pieces that are counted from 0, as columns: the first, and behind the last. */
function spanOf(pieces: readonly string[], first: number, last: number): Span {
  const width = (of: readonly string[]) => of.reduce((sum, piece) => sum + piece.length, 0);
  const from = width(pieces.slice(0, first));
  return [from, from + width(pieces.slice(first, last))];
}

/** The changed spans of the lines `before`, where lines stand against lines one to one. */
export function pairedSpans(before: readonly string[], after: readonly string[]): Span[][] {
  if (before.length !== after.length || before.length > MOST_LINES) {
    return [];
  }
  return before.map((line, index) => changedSpans(line, after[index] ?? "").before);
}
