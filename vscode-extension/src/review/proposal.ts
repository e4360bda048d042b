/** Texts for a comparison: without the hunks that are in the text, and what the person made of the one with the held ones in it. */
import type { Edit, Lines, Place } from "../protocol";
import { changesBetween } from "./changes";
import { type Entry, isInText, nameOf, shift } from "./hunks";

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
  /** The lines of the text without it that they stand for. */
  replaced: Lines;
  /** Another hunk of that text rests on it: its lines there are not all that it proposes. */
  isBuiltOn: boolean;
}

/** The hunks of the text that has them, with what the list says of how they build on each other. */
export function proposedIn(places: readonly Place[], edits: readonly Edit[]): Proposed[] {
  const hunks = edits.flatMap((edit) => edit.hunks.map((hunk) => ({ name: nameOf(edit, hunk), hunk })));
  const shownAs = new Map(hunks.map(({ name, hunk }) => [name, hunk.partOf ?? name]));
  const needed = new Map<string, Set<string>>();
  for (const { name, hunk } of hunks) {
    const own = shownAs.get(name) ?? name;
    const others = hunk.dependsOn
      .map((other) => shownAs.get(other) ?? other)
      .filter((other) => other !== own);
    needed.set(own, new Set([...(needed.get(own) ?? []), ...others]));
  }
  const restsOn = (upper: Place, lower: Place) => needed.get(upper.hunk)?.has(lower.hunk) ?? false;
  return places.map((place) => {
    const isBuiltOn = places.some(
      (other) =>
        other !== place &&
        (restsOn(other, place) || (overlap(place.lines, other.lines) && !restsOn(place, other))),
    );
    return { name: place.hunk, lines: place.lines, replaced: place.replaced, isBuiltOn };
  });
}

function overlap(a: Lines, b: Lines): boolean {
  return a.start < b.end && b.start < a.end;
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
  /** Why it cannot be taken over: nobody can say which part of a change is whose. */
  torn?: "overAnEdge" | "builtOn";
}

/** Where lines of the document are in the text with the held hunks in it; nowhere where one of these has a part in them. */
export function carriedOver({ start, end }: Lines, hunks: readonly Proposed[]): Lines | undefined {
  let by = 0;
  for (const { lines, replaced } of hunks) {
    if (replaced.end <= start) {
      by += lines.end - lines.start - (replaced.end - replaced.start);
    } else if (replaced.start < end) {
      return undefined;
    }
  }
  return { start: start + by, end: end + by };
}

/** Where hunks are in a text that has them after the person has changed it. */
export function placesNow(
  before: string,
  after: string,
  hunks: readonly { name: string; lines: Lines }[],
): ReadonlyMap<string, Lines> {
  const places = new Map(hunks.map(({ name, lines }) => [name, { ...lines }]));
  const changes = before === after ? [] : changesBetween(linesOf(before), linesOf(after));
  for (const { change } of changes.reverse()) {
    for (const lines of places.values()) {
      shift(lines, change);
    }
  }
  return places;
}

/** @param before the text as it was proposed @param after as the person has it now */
export function revisionOf(before: string, after: string, hunks: readonly Proposed[]): Revision {
  const now = linesOf(after);
  const places = hunks.map((hunk) => ({ ...hunk, now: { ...hunk.lines } }));
  const touched = new Set<(typeof places)[number]>();
  const revision: Revision = { revised: new Map(), elsewhere: [] };
  // From the end, so that the lines before a change are those of the old text.
  for (const { change, made } of changesBetween(linesOf(before), now).reverse()) {
    const { first, last, newLast } = change;
    const within = places.find((place) => {
      return !place.isBuiltOn && place.lines.start <= first && last <= place.lines.end;
    });
    const over = places.filter(({ lines }) => lines.start < last && first < lines.end);
    if (within) {
      within.now.end += newLast - last;
      touched.add(within);
    } else if (over.length > 0) {
      revision.torn = over.some(({ isBuiltOn }) => isBuiltOn) ? "builtOn" : "overAnEdge";
    } else {
      const by = grownBefore(first, hunks);
      revision.elsewhere.push({ start: first - by, end: last - by, lines: made });
    }
    for (const place of places) {
      if (place !== within && place.lines.start >= last) {
        shift(place.now, change);
      }
    }
  }
  for (const place of touched) {
    revision.revised.set(place.name, now.slice(place.now.start, place.now.end));
  }
  return revision;
}

/** How many lines the hunks before a line of the text that has them have added to it. Where they overlap they count together. */
function grownBefore(line: number, hunks: readonly Proposed[]): number {
  const regions: { lines: Lines; replaced: Lines }[] = [];
  for (const { lines, replaced } of hunks) {
    const last = regions.at(-1);
    if (last && (lines.start < last.lines.end || replaced.start < last.replaced.end)) {
      last.lines.end = Math.max(last.lines.end, lines.end);
      last.replaced.start = Math.min(last.replaced.start, replaced.start);
      last.replaced.end = Math.max(last.replaced.end, replaced.end);
    } else {
      regions.push({ lines: { ...lines }, replaced: { ...replaced } });
    }
  }
  const size = ({ start, end }: Lines) => end - start;
  return regions
    .filter(({ lines }) => lines.end <= line)
    .reduce((sum, { lines, replaced }) => sum + size(lines) - size(replaced), 0);
}
