/** What agents did to a file, whatever was decided about it: the newest edit first, and its hunks below. */
import type { Edit, Hunk } from "../protocol";
import { type Entry, isInText, nameOf } from "./hunks";
import type { ReviewDocument } from "./model";
import { hunkContext, type Node } from "./tree";
import { circumstancesOf, elsewhereInWords, gistOf, placeOf, sizeInWords, sizeOf, stateOf } from "./wording";

/** A document with all of its edits. Its entries are what is to be decided. */
export function pastOf(document: ReviewDocument, now: Date): Node[] {
  return document.edits.toReversed().map((edit) => editNode(document, edit, now));
}

function editNode(document: ReviewDocument, edit: Edit, now: Date): Node {
  const entries = edit.hunks
    .filter(({ partOf }) => partOf === null)
    .map((hunk) => ({ name: nameOf(edit, hunk), edit, hunk, lines: hunk.lines ?? undefined }));
  const circumstances = [...timeOf(edit, now), ...(edit.reason ? [edit.reason] : [])];
  return {
    kind: "edit",
    id: `past:${edit.id}`,
    label: edit.agent,
    description: [...circumstances, edit.tool].join(" · "),
    spoken: [edit.agent, ...circumstances, edit.status].join(", "),
    context: "edit.past",
    document,
    entries,
    targets: [{ uri: document.uri, edit: edit.id }],
    children: entries.map((entry) => hunkNode(document, entry)),
  };
}

/** When an edit was made, as short as can be; nothing where the sidecar does not say. */
function timeOf({ made }: Edit, now: Date): string[] {
  if (made === undefined) {
    return [];
  }
  const at = new Date(made);
  const two = (number: number) => String(number).padStart(2, "0");
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const isToday = at.toDateString() === now.toDateString();
  return [isToday ? time : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`];
}

function hunkNode(document: ReviewDocument, entry: Entry): Node {
  const { edit, hunk, lines } = entry;
  const size = hunk.file === null ? [...(lines ? [placeOf(lines)] : []), sizeOf(hunk)] : [];
  const said = [standingOf(hunk), ...(hunk.reason ? [`told "${hunk.reason}"`] : [])];
  return {
    kind: "hunk",
    id: `past:${entry.name}`,
    label: gistOf(hunk),
    description: [...size, ...said].join(" · "),
    spoken: [
      ...(hunk.file === null && lines ? [placeOf(lines)] : []),
      sizeInWords(hunk),
      ...said,
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
  if (hunk.state === "withdrawn") {
    return "taken back by the agent";
  }
  return hunk.deciding || hunk.decision === "undecided" || isInText(hunk) ? stateOf(hunk) : hunk.decision;
}

/** What menus go by: `hunk.*` for what is to be decided, as in the tree of that, and `past.in` or `past.out` for what was. */
function contextOf(document: ReviewDocument, entry: Entry): string {
  const { hunk } = entry;
  if (hunk.state === "withdrawn") {
    return "past.withdrawn";
  }
  if (hunk.decision === "undecided" || hunk.deciding || document.readOnly) {
    return `hunk.${hunkContext(document, entry)}`;
  }
  return isInText(hunk) ? "past.in" : "past.out";
}
