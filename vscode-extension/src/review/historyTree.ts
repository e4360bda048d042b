/** What agents did to a file, whatever was decided about it: the newest edit first, and its hunks below. */
import type { Edit, Hunk } from "../protocol";
import { type Entry, isInText, nameOf } from "./hunks";
import type { ReviewDocument } from "./model";
import { hunkContext, type Node } from "./tree";
import {
  circumstancesOf,
  elsewhereInWords,
  gistOf,
  placeOf,
  sizeInWords,
  sizeOf,
  stateOf,
  timeOfDay,
  toldInWords,
  twoDigits,
} from "./wording";

/** A document with all of its edits. Its entries are what is to be decided. */
export function historyTreeOf(document: ReviewDocument, now: Date): Node[] {
  return document.edits.toReversed().map((edit) => editNode(document, edit, now));
}

function editNode(document: ReviewDocument, edit: Edit, now: Date): Node {
  const entries = edit.hunks.map((hunk) => ({
    name: nameOf(edit, hunk),
    edit,
    hunk,
    lines: hunk.lines ?? undefined,
  }));
  const circumstances = [...timeOf(edit, now), ...(edit.reason ? [edit.reason] : [])];
  return {
    kind: "edit",
    id: `history:${edit.id}`,
    label: edit.agent,
    description: [...circumstances, edit.tool].join(" · "),
    spoken: [edit.agent, ...circumstances, edit.status].join(", "),
    context: "edit.history",
    document,
    entries,
    targets: [{ uri: document.uri, edit: edit.id }],
    children: entries.map((entry) => hunkNode(document, entry)),
  };
}

/** When an edit was made, as short as can be; nothing where the sidecar does not say. */
function timeOf({ made }: Edit, now: Date): string[] {
  if (made === undefined || made === null) {
    return [];
  }
  const at = new Date(made);
  const isToday = at.toDateString() === now.toDateString();
  const day = [at.getFullYear(), twoDigits(at.getMonth() + 1), twoDigits(at.getDate())].join("-");
  return [isToday ? timeOfDay(at) : `${day} ${timeOfDay(at)}`];
}

function hunkNode(document: ReviewDocument, entry: Entry): Node {
  const { edit, hunk, lines } = entry;
  const size = hunk.file === null ? [...(lines ? [placeOf(lines)] : []), sizeOf(hunk)] : [];
  const said = [standingOf(hunk), ...toldInWords(hunk)];
  return {
    kind: "hunk",
    id: `history:${entry.name}`,
    label: gistOf(hunk),
    description: [...size, ...said].join(" · "),
    spoken: [
      ...(hunk.file === null && lines ? [placeOf(lines)] : []),
      sizeInWords(hunk),
      standingOf(hunk),
      ...elsewhereInWords(document),
      gistOf(hunk, true),
      ...circumstancesOf(entry),
    ].join(", "),
    context: contextOf(document, entry),
    document,
    entry,
    entries: [entry],
    targets: [{ uri: document.uri, edit: edit.id, hunk: hunk.number }],
    children: [],
  };
}

/** How a hunk stands, and what was decided about it. */
function standingOf(hunk: Hunk): string {
  if (hunk.partOf !== null) {
    const colon = hunk.partOf.lastIndexOf(":");
    return `decided with ${hunk.partOf.slice(0, 8)}${hunk.partOf.slice(colon)}`;
  }
  if (hunk.deciding || hunk.decision === "undecided" || hunk.state === "withdrawn" || isInText(hunk)) {
    return stateOf(hunk);
  }
  return hunk.decision === "accepted" ? "accepted, not in the text" : hunk.decision;
}

/** What menus go by: `hunk.*` for what is to be decided, as in the tree of that, and `decided.in` or `decided.out` for what was. */
function contextOf(document: ReviewDocument, entry: Entry): string {
  const { hunk } = entry;
  if (hunk.partOf !== null || hunk.state === "withdrawn") {
    return "hunk.none";
  }
  if (hunk.decision === "undecided" || hunk.deciding || document.readOnly) {
    return `hunk.${hunkContext(document, entry)}`;
  }
  return isInText(hunk) ? "decided.in" : "decided.out";
}
