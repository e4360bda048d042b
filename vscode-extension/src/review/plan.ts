/**
 * What is drawn of the hunks of a text, as far as it is in view.
 *
 * An extension can colour the lines that are there and put text behind them, but it cannot put lines between them. So what
 * a hunk would put in place of its lines (or, of one that is in the text, what it has replaced) stands beside them: one line of it
 * behind each line of the text, all beginning in one column, as in a comparison side by side. It begins at the hunk's first line
 * and may go on beside the lines that follow, up to the next hunk.
 */
import type { Hunk, Lines } from "../protocol";
import { type Entry, isInText, rowOf } from "./hunks";
import { pairedSpans, type Span } from "./wordDiff";
import { counted } from "./wording";

/** What a line of the text is: about to go, put there by a hunk, or in a conflict. */
export type LineKind = "removed" | "proposed" | "conflicted";

export interface Band extends Lines {
  kind: LineKind;
  /** To the right edge, as nothing stands beside the lines. */
  whole: boolean;
}

/** A word that changed, in a line of a band. */
export interface Changed {
  row: number;
  span: Span;
  kind: LineKind;
}

/** Text that stands behind a line and is not part of it. */
export interface Ghost {
  row: number;
  /** With blanks that are not cut and tabs drawn as blanks. */
  text: string;
  /** How many columns lie between the end of the line and it. */
  gap: number;
  kind: "removed" | "proposed" | "more";
}

/** Where lines would be inserted: the edge above a row, or below the last one. */
export interface Place {
  row: number;
  edge: "above" | "below";
}

export interface Plan {
  bands: Band[];
  changed: Changed[];
  ghosts: Ghost[];
  places: Place[];
  /** One mark in the gutter for each line that belongs to a hunk. */
  marks: { row: number; kind: LineKind | "place" }[];
}

/** A text as far as drawing needs it. */
export interface Text {
  lineCount: number;
  line(row: number): string;
  tabSize: number;
}

/** Between the longest line and what stands beside it. */
const GAP = 3;
/** Text that begins further to the right would not be seen: there each line of it follows its own line of the text. */
const FARTHEST = 100;
/** A ghost is no longer than this; hovering shows all of it. */
const LONGEST = 200;

/** How many columns a text takes, from a column on. */
export function widthOf(text: string, tabSize: number): number {
  let column = 0;
  for (const character of text) {
    if (character === "\t") {
      column += tabSize - (column % tabSize);
    } else {
      column += isWide(character) ? 2 : 1;
    }
  }
  return column;
}

/** Characters of two columns, as monospace fonts have them: East Asian ones and most pictures. */
function isWide(character: string): boolean {
  return /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(
    character,
  );
}

/** A line as it can be drawn: tabs as blanks, blanks that are not cut. */
function drawable(line: string, tabSize: number): string {
  let column = 0;
  let drawn = "";
  for (const character of line) {
    if (column >= LONGEST) {
      return `${drawn}…`;
    }
    const width = character === "\t" ? tabSize - (column % tabSize) : isWide(character) ? 2 : 1;
    drawn += character === "\t" || character === " " ? "\u00a0".repeat(width) : character;
    column += width;
  }
  // Nothing at all would not be drawn.
  return drawn === "" ? "\u00a0" : drawn;
}

/** Whether what stands beside a hunk begins so far to the right that it may not be seen. */
export function isFarBeside({ hunk, lines }: Entry, text: Text): boolean {
  if (!lines || besideOf(hunk).lines.length === 0) {
    return false;
  }
  return widthOf(text.line(rowOf(lines, text.lineCount)), text.tabSize) + GAP > FARTHEST;
}

/** The plan for the entries that are to be drawn, each with a place, in text order. */
export function planFor(entries: readonly Entry[], text: Text, visible: readonly Lines[]): Plan {
  const plan: Plan = { bands: [], changed: [], ghosts: [], places: [], marks: [] };
  const placed = entries.filter((entry) => entry.lines !== undefined && entry.hunk.file === null);
  placed.forEach((entry, index) => {
    const lines = entry.lines as Lines;
    const next = placed[index + 1]?.lines;
    const first = rowOf(lines, text.lineCount);
    // Several hunks may be in one place; then the last one has the room.
    const limit = next ? Math.max(rowOf(next, text.lineCount), first) : text.lineCount;
    const beside = besideOf(entry.hunk);
    const reach = Math.max(lines.end, first + Math.min(beside.lines.length, limit - first));
    if (visible.some((view) => view.start <= reach && lines.start <= view.end)) {
      planHunk(plan, entry.hunk, lines, text, limit);
    }
  });
  return plan;
}

/** What stands beside the lines of a hunk. */
function besideOf(hunk: Hunk): { lines: string[]; kind: "removed" | "proposed" } {
  return isInText(hunk)
    ? { lines: hunk.removed, kind: "removed" }
    : { lines: hunk.proposed, kind: "proposed" };
}

function planHunk(plan: Plan, hunk: Hunk, lines: Lines, text: Text, limit: number): void {
  const kind: LineKind = hunk.state === "conflicted" ? "conflicted" : isInText(hunk) ? "proposed" : "removed";
  const end = Math.min(lines.end, text.lineCount);
  if (lines.start < end) {
    plan.bands.push({ start: lines.start, end, kind, whole: besideOf(hunk).lines.length === 0 });
    for (let row = lines.start; row < end; row++) {
      plan.marks.push({ row, kind });
    }
    planChanged(plan, hunk, { start: lines.start, end }, kind, text);
  } else {
    const row = rowOf(lines, text.lineCount);
    plan.places.push({ row, edge: lines.start >= text.lineCount ? "below" : "above" });
    plan.marks.push({ row, kind: hunk.state === "conflicted" ? "conflicted" : "place" });
  }
  planBeside(plan, hunk, lines, text, limit);
}

/** The words that differ, in lines that still are what the hunk knows. */
function planChanged(plan: Plan, hunk: Hunk, lines: Lines, kind: LineKind, text: Text): void {
  const [here, there] = isInText(hunk) ? [hunk.proposed, hunk.removed] : [hunk.removed, hunk.proposed];
  pairedSpans(here, there).forEach((spans, index) => {
    const row = lines.start + index;
    if (row < lines.end && text.line(row) === here[index]) {
      plan.changed.push(...spans.map((span) => ({ row, span, kind })));
    }
  });
}

function planBeside(plan: Plan, hunk: Hunk, lines: Lines, text: Text, limit: number): void {
  const beside = besideOf(hunk);
  const first = rowOf(lines, text.lineCount);
  const room = limit - first;
  // What a hunk that is in the text has removed is named where no line of it can be shown.
  if (beside.lines.length === 0 || room <= 0) {
    return;
  }
  const shown = beside.lines.length <= room ? beside.lines.length : Math.max(room - 1, 1);
  const rows = Array.from({ length: Math.min(room, Math.max(shown, 1)) }, (_, index) => first + index);
  const widths = rows.map((row) => widthOf(text.line(row), text.tabSize));
  const column = Math.max(...widths) + GAP;
  const gapAt = (index: number) => (column <= FARTHEST ? column - (widths[index] ?? 0) : GAP);
  rows.forEach((row, index) => {
    const line = beside.lines[index] ?? "";
    plan.ghosts.push({ row, text: drawable(line, text.tabSize), gap: gapAt(index), kind: beside.kind });
  });
  const left = beside.lines.length - rows.length;
  if (left > 0) {
    const row = first + rows.length;
    const more = `… ${counted(left, "more line")}; hover shows ${left === 1 ? "it" : "them"}`;
    if (row < limit) {
      const gap = column <= FARTHEST ? Math.max(column - widthOf(text.line(row), text.tabSize), GAP) : GAP;
      plan.ghosts.push({ row, text: drawable(more, text.tabSize), gap, kind: "more" });
    } else {
      const last = plan.ghosts.at(-1);
      if (last) {
        last.text += drawable(`  ${more}`, text.tabSize);
      }
    }
  }
}
