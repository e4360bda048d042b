/** The tree of what is to be decided: agent, conversation, file, hunk. */
import type { Decide } from "../protocol";
import { fileChangeOf } from "./fileChange";
import { type Entry, isInText, isPastTaking } from "./hunks";
import type { ReviewDocument } from "./model";
import {
  circumstancesOf,
  counted,
  elsewhereInWords,
  fileWords,
  gistOf,
  placeOf,
  sizeInWords,
  sizeOf,
  sizeOfAll,
  stateOf,
  timeOfDay,
  type Verbs,
  verbsFor,
} from "./wording";

export type NodeKind = "agent" | "conversation" | "file" | "edit" | "hunk";

export interface Node {
  kind: NodeKind;
  /** The same for the same thing, however the tree changes. */
  id: string;
  label: string;
  description: string;
  /** For a screen reader. */
  spoken: string;
  /** What menus go by: `hunk.held`, `file.inText`, `hunk.conflicted`, `hunk.readOnly`, … */
  context: string;
  /** Whose file, and which of its hunks: for files and hunks. */
  document?: ReviewDocument;
  entry?: Entry;
  /** All hunks below. */
  entries: readonly Entry[];
  /** What a decision about it is about. */
  targets: readonly Target[];
  children: readonly Node[];
}

/** What a decision is about. */
export type Target = Partial<Pick<Decide, "uri" | "edit" | "hunk" | "conversation" | "lines">>;

interface Found {
  document: ReviewDocument;
  entry: Entry;
}

/** Groups in order of appearance. */
function groups<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = found.get(key);
    if (group) {
      group.push(item);
    } else {
      found.set(key, [item]);
    }
  }
  return found;
}

/** What to call files: their paths in the workspace. */
export interface Names {
  ofUri(uri: string): string;
  ofPath(path: string): string;
  /** What one was called before an edit gave it another name, if that is known. */
  beforeEdit(edit: string): string | undefined;
}

/** @param only the agent whose hunks are shown; all of them where none is named */
export function treeOf(documents: readonly ReviewDocument[], names: Names, only?: string): Node[] {
  const found = documents.flatMap((document) => document.entries.map((entry) => ({ document, entry })));
  return [...groups(found, ({ entry }) => entry.edit.agent)]
    .filter(([agent]) => only === undefined || agent === only)
    .map(([agent, of]) => agentNode(agent, of, names));
}

/** What to call a file with these hunks: with its other name where it is to get one, or got one. */
export function fileLabel(uri: string, entries: readonly Entry[], names: Names): string {
  const name = names.ofUri(uri);
  for (const { edit, hunk } of entries) {
    const change = fileChangeOf(hunk);
    if (change?.kind === "rename" && !isInText(hunk)) {
      return fromTo(name, names.ofPath(change.to));
    }
    const before = change?.kind === "rename" ? names.beforeEdit(edit.id) : undefined;
    if (before !== undefined) {
      return fromTo(before, name);
    }
  }
  return name;
}

/** "lib/mv.js → moved.js": the folder goes without saying where it is the same. */
function fromTo(from: string, to: string): string {
  const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);
  return `${from} → ${folderOf(from) === folderOf(to) ? to.slice(folderOf(to).length) : to}`;
}

/** A label as it can be read aloud. */
function inSpeech(label: string): string {
  return label.replace(" → ", " to become ");
}

/**
 * What is to be decided in a file: "+3 −2 · 2 left", "deleted".
 *
 * @param saysName its label has its other name already
 */
function fileSummary(entries: readonly Entry[], saysName: boolean): string {
  const hunks = entries.map(({ hunk }) => hunk);
  const changes = hunks.filter((hunk) => hunk.file !== null);
  const isMade = changes.some((hunk) => fileChangeOf(hunk)?.kind === "create");
  const others = hunks.length - changes.length;
  const words = changes.flatMap((hunk) =>
    fileChangeOf(hunk)?.kind === "rename" && saysName ? [] : (fileWords(hunk) ?? []),
  );
  const left = others > 0 && !isMade ? [`${others} left`] : [];
  return [...words, ...(others > 0 ? [sizeOfAll(hunks)] : []), ...left].join(" · ");
}

/** All that is shown of a tree: most lists change nothing of it. */
export function shownOf(nodes: readonly Node[]): string {
  const shown = ({ id, label, description, spoken, context, children }: Node): unknown => [
    id,
    label,
    description,
    spoken,
    context,
    children.map(shown),
  ];
  return JSON.stringify(nodes.map(shown));
}

/** One kind of verbs for what is below, or that it cannot be decided here. */
function contextOf(kind: NodeKind, found: readonly Found[]): string {
  if (found.every(({ document }) => document.readOnly)) {
    return `${kind}.readOnly`;
  }
  return `${kind}.${verbs(found)}`;
}

function verbs(found: readonly Found[]): Verbs {
  return verbsFor(found.map(({ entry }) => entry.hunk));
}

function conflictedIn(found: readonly Found[]): string {
  const count = found.filter(({ entry }) => entry.hunk.state === "conflicted").length;
  return count > 0 ? `, ${count} conflicted` : "";
}

function agentNode(agent: string, found: Found[], names: Names): Node {
  const size = sizeOfAll(found.map(({ entry }) => entry.hunk));
  const children = conversationNodes(agent, found, names);
  return {
    kind: "agent",
    id: `agent:${agent}`,
    label: agent,
    description: countOf(found) + (size === "" ? "" : ` · ${size}`),
    spoken: `${agent}, ${countOf(found, "hunk")}`,
    context: contextOf("agent", found),
    entries: found.map(({ entry }) => entry),
    targets: children.flatMap((child) => child.targets),
    children,
  };
}

/** "3 in 2 files, 1 conflicted" */
function countOf(found: readonly Found[], noun?: string): string {
  const files = new Set(found.map(({ document }) => document.key)).size;
  const hunks = noun === undefined ? found.length : counted(found.length, noun);
  return `${hunks} in ${counted(files, "file")}${conflictedIn(found)}`;
}

/**
 * An agent that names no conversations has one for each call; those of one connection are shown together. So a conversation of a single
 * edit stands with its like, one of several by itself.
 */
function conversationNodes(agent: string, found: Found[], names: Names): Node[] {
  const editsOf = new Map<string, Set<string>>();
  for (const { entry } of found) {
    const { conversation, id } = entry.edit;
    editsOf.set(conversation, (editsOf.get(conversation) ?? new Set()).add(id));
  }
  const groupOf = ({ entry: { edit } }: Found) =>
    edit.connection !== null && editsOf.get(edit.conversation)?.size === 1
      ? `connection:${edit.connection}`
      : `conversation:${edit.conversation}`;
  return [...groups(found, groupOf)].map(([key, of]) => {
    const id = `${agent}:${key}`;
    const conversations = [...new Set(of.map(({ entry }) => entry.edit.conversation))].sort();
    const label = conversationLabel(conversations);
    return {
      kind: "conversation" as const,
      id,
      label,
      description: countOf(of),
      spoken: `${label} of ${agent}, ${countOf(of, "hunk")}`,
      context: contextOf("conversation", of),
      entries: of.map(({ entry }) => entry),
      targets: conversations.map((conversation) => ({ conversation })),
      children: fileNodes(id, of, names),
    };
  });
}

/** What to call conversations that are shown as one: by when it began, where the id was made by the sidecar and says that. */
function conversationLabel(ids: readonly string[]): string {
  const id = ids[0] ?? "";
  const began = /^conv_(\d{13})_/.exec(id)?.[1];
  if (began === undefined) {
    return `Conversation ${id}`;
  }
  return `Conversation of ${timeOfDay(new Date(Number(began)))}`;
}

function fileNodes(parent: string, found: Found[], names: Names): Node[] {
  return [...groups(found, ({ document }) => document.key)].map(([key, of]) => {
    const document = (of[0] as Found).document;
    const entries = of.map(({ entry }) => entry);
    const label = fileLabel(document.uri, entries, names);
    const elsewhere = elsewhereInWords(document).map((said) => `, ${said}`);
    const saysName = label !== names.ofUri(document.uri);
    const summary = fileSummary(entries, saysName) + conflictedIn(of) + elsewhere.join("");
    const description = summary.replace(/^, /, "");
    const edits = [...new Set(entries.map(({ edit }) => edit.id))];
    const id = `${parent}:file:${key}`;
    return {
      kind: "file" as const,
      id,
      label,
      description,
      spoken: [inSpeech(label), ...(description === "" ? [] : [description])].join(", "),
      context: contextOf("file", of),
      document,
      entries,
      targets: edits.map((edit) => ({ uri: document.uri, edit })),
      children: of.map((one) => hunkNode(id, one, inSpeech(label))),
    };
  });
}

function hunkNode(parent: string, { document, entry }: Found, file: string): Node {
  const { edit, hunk, lines } = entry;
  // What became of a file says how it stands.
  const isOrdinary = hunk.state === "held" || (hunk.state === "inText" && hunk.file !== null);
  const state = isOrdinary && !hunk.deciding ? [] : [stateOf(hunk)];
  return {
    kind: "hunk",
    id: `${parent}:hunk:${entry.name}`,
    label: gistOf(hunk),
    description: [...(hunk.file === null ? [placeOf(lines), sizeOf(hunk)] : []), ...state].join(" · "),
    spoken: [
      file,
      ...(hunk.file === null ? [placeOf(lines), sizeInWords(hunk), stateOf(hunk)] : state),
      ...elsewhereInWords(document),
      gistOf(hunk, true),
      ...circumstancesOf(entry),
    ].join(", "),
    context: `hunk.${hunkContext(document, entry)}`,
    document,
    entry,
    entries: [entry],
    targets: [{ uri: document.uri, edit: edit.id, hunk: hunk.number }],
    children: [],
  };
}

export function hunkContext(document: ReviewDocument, entry: Entry): string {
  const { hunk } = entry;
  if (document.readOnly) {
    return "readOnly";
  }
  if (hunk.deciding) {
    return "deciding";
  }
  if (hunk.state === "conflicted") {
    return isPastTaking(hunk) ? "lost" : "conflicted";
  }
  return verbsFor([hunk]);
}
