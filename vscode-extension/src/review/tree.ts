/** The tree of what is to be decided: agent, conversation, file, hunk. */
import type { Decide } from "../protocol";
import { type Entry, isPastTaking } from "./hunks";
import type { ReviewDocument } from "./model";
import { counted, gistOf, placeOf, sizeInWords, sizeOf, stateOf, type Verbs, verbsFor } from "./wording";

export type NodeKind = "agent" | "conversation" | "file" | "hunk";

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

/** @param nameOf what to call the file of a document */
export function treeOf(documents: readonly ReviewDocument[], nameOf: (uri: string) => string): Node[] {
  const found = documents.flatMap((document) => document.entries.map((entry) => ({ document, entry })));
  return [...groups(found, ({ entry }) => entry.edit.agent)].map(([agent, of]) =>
    agentNode(agent, of, nameOf),
  );
}

/** All that is shown of a tree: most lists change nothing of it. */
export function shownOf(nodes: readonly Node[]): string {
  const shown = ({ id, label, description, context, children }: Node): unknown => [
    id,
    label,
    description,
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

function agentNode(agent: string, found: Found[], nameOf: (uri: string) => string): Node {
  const description = counted(found.length, "hunk") + conflictedIn(found);
  const children = conversationNodes(agent, found, nameOf);
  return {
    kind: "agent",
    id: `agent:${agent}`,
    label: agent,
    description,
    spoken: `${agent}, ${description}`,
    context: contextOf("agent", found),
    entries: found.map(({ entry }) => entry),
    targets: children.flatMap((child) => child.targets),
    children,
  };
}

/**
 * An agent that names no conversations has one for each call; those of one connection are shown together. So a conversation of a single
 * edit stands with its like, one of several by itself.
 */
function conversationNodes(agent: string, found: Found[], nameOf: (uri: string) => string): Node[] {
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
    const files = groups(of, ({ document }) => document.key).size;
    const description = `${counted(of.length, "hunk")} in ${counted(files, "file")}${conflictedIn(of)}`;
    const conversations = [...new Set(of.map(({ entry }) => entry.edit.conversation))].sort();
    const label = conversationLabel(conversations);
    return {
      kind: "conversation" as const,
      id,
      label,
      description,
      spoken: `${label} of ${agent}, ${description}`,
      context: contextOf("conversation", of),
      entries: of.map(({ entry }) => entry),
      targets: conversations.map((conversation) => ({ conversation })),
      children: fileNodes(id, of, nameOf),
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
  const time = new Date(Number(began));
  const padded = [time.getHours(), time.getMinutes()].map((part) => String(part).padStart(2, "0"));
  return `Conversation of ${padded.join(":")}`;
}

function fileNodes(parent: string, found: Found[], nameOf: (uri: string) => string): Node[] {
  return [...groups(found, ({ document }) => document.key)].map(([key, of]) => {
    const document = (of[0] as Found).document;
    const label = nameOf(document.uri);
    const elsewhere = document.readOnly && document.owner !== null ? `, decided in ${document.owner}` : "";
    const description = counted(of.length, "hunk") + conflictedIn(of) + elsewhere;
    const edits = [...new Set(of.map(({ entry }) => entry.edit.id))];
    const id = `${parent}:file:${key}`;
    return {
      kind: "file" as const,
      id,
      label,
      description,
      spoken: `${label}, ${description}`,
      context: contextOf("file", of),
      document,
      entries: of.map(({ entry }) => entry),
      targets: edits.map((edit) => ({ uri: document.uri, edit })),
      children: of.map((one) => hunkNode(id, one, label)),
    };
  });
}

function hunkNode(parent: string, { document, entry }: Found, file: string): Node {
  const { edit, hunk, lines } = entry;
  const description = [
    placeOf(lines),
    sizeOf(hunk),
    ...(hunk.state === "held" && !hunk.deciding ? [] : [stateOf(hunk)]),
  ];
  return {
    kind: "hunk",
    id: `${parent}:hunk:${entry.name}`,
    label: gistOf(hunk),
    description: (hunk.file === null ? description : description.slice(2)).join(" · "),
    spoken: `${file}, ${placeOf(lines)}, ${sizeInWords(hunk)}, ${stateOf(hunk)}, ${gistOf(hunk)}`,
    context: `hunk.${hunkContext(document, entry)}`,
    document,
    entry,
    entries: [entry],
    targets: [{ uri: document.uri, edit: edit.id, hunk: hunk.number }],
    children: [],
  };
}

function hunkContext(document: ReviewDocument, entry: Entry): string {
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
