/** Which parts of a line changed, for a highlight inside replaced lines. */

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
  const common = commonPieces(a, b);
  const spans = { before: spansOf(a, common.before), after: spansOf(b, common.after) };
  const size = (found: Span[]) => found.reduce((sum, [from, to]) => sum + to - from, 0);
  const changed = size(spans.before) + size(spans.after);
  return changed > 0.7 * (before.length + after.length) ? none : spans;
}

/** Which pieces belong to a longest common subsequence. */
function commonPieces(a: string[], b: string[]): { before: Set<number>; after: Set<number> } {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const common = { before: new Set<number>(), after: new Set<number>() };
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      common.before.add(i++);
      common.after.add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      i++;
    } else {
      j++;
    }
  }
  return common;
}

function spansOf(pieces: string[], common: Set<number>): Span[] {
  const spans: Span[] = [];
  let column = 0;
  pieces.forEach((piece, index) => {
    const end = column + piece.length;
    if (!common.has(index)) {
      const last = spans.at(-1);
      if (last?.[1] === column) {
        spans[spans.length - 1] = [last[0], end];
      } else {
        spans.push([column, end]);
      }
    }
    column = end;
  });
  return spans;
}

/** The changed spans of the lines `before`, where lines stand against lines one to one. */
export function pairedSpans(before: readonly string[], after: readonly string[]): Span[][] {
  if (before.length !== after.length || before.length > MOST_LINES) {
    return [];
  }
  return before.map((line, index) => changedSpans(line, after[index] ?? "").before);
}
