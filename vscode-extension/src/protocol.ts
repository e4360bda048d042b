/**
 * What this extension and the sidecar say to each other beyond LSP: the mirror of editors/PROTOCOL.md.
 *
 * A test of the sidecar reads this file as text and compares it with the page, so the three tables are plain literals,
 * one entry a line, strings in double quotes, and nothing is computed. The types below are held to the tables by the compiler.
 */

export const PROTOCOL = 2;

/** Who says it, of what kind it is, and its fields. */
// biome-ignore format: one entry a line
export const MESSAGES = {
  "hashline/pendingEdits": { kind: "notification", from: "sidecar", params: ["uri", "version", "owner", "readOnly", "edits"] },
  "hashline/waiting": { kind: "notification", from: "sidecar", params: ["agents"] },
  "hashline/decide": { kind: "request", from: "plugin", params: ["decision", "uri", "edit", "hunk", "conversation", "lines", "reason", "text", "edited", "withOthers"], result: ["queued", "refused"] },
  "hashline/proposedText": { kind: "request", from: "plugin", params: ["uri"], result: ["text", "version", "places"] },
  "hashline/history": { kind: "request", from: "plugin", params: ["uri"], result: ["version", "owner", "readOnly", "edits"] },
  "hashline/cause": { kind: "notification", from: "plugin", params: ["uri", "version", "cause", "delivery"] },
  "hashline/status": { kind: "request", from: "plugin", params: [], result: ["version", "roots", "documents", "pending", "conflicted", "agents", "socket"] },
} as const;

/** The fields of what is inside the messages. */
// biome-ignore format: one entry a line
export const TYPES = {
  "Announcement": ["protocol", "version"],
  "Edit": ["id", "made", "agent", "connection", "conversation", "tool", "reason", "mode", "status", "hunks"],
  "Hunk": ["number", "state", "decision", "reason", "deciding", "lines", "removed", "proposed", "partOf", "dependsOn", "conflict", "file", "ways"],
  "Lines": ["start", "end"],
  "Place": ["hunk", "lines", "replaced"],
  "Refusal": ["hunk", "why", "message", "others"],
} as const;

/** The values of the fields that have a closed set of them. */
// biome-ignore format: one entry a line
export const VALUES = {
  "Edit.mode": ["propose", "apply"],
  "Edit.status": ["pending", "accepted", "rejected"],
  "Hunk.state": ["held", "inText", "edited", "conflicted", "withdrawn"],
  "Hunk.decision": ["undecided", "accepted", "rejected"],
  "hashline/decide.decision": ["accept", "reject", "keepMine", "takeTheirs", "keepBoth", "reopen", "comment"],
  "hashline/decide.edited": ["undo", "keep"],
  "hashline/cause.cause": ["delivery", "undo", "redo", "reload", "saveConflict"],
  "Refusal.why": ["conflicted", "edited", "needsOthers", "collides", "readOnly", "gone", "failed"],
} as const;

type Value<Field extends keyof typeof VALUES> = (typeof VALUES)[Field][number];

export interface Announcement {
  protocol: number;
  version: string;
}

/** Lines of a text, counted from 0, without the end. Where both are equal it is the place before that line. */
export interface Lines {
  start: number;
  end: number;
}

export interface Hunk {
  number: number;
  state: Value<"Hunk.state">;
  decision: Value<"Hunk.decision">;
  /** Why it was decided so, as the person said, or what they said without deciding; some sidecars do not tell. */
  reason?: string | null;
  /** A decision waits for the text to show it. */
  deciding: boolean;
  lines: Lines | null;
  removed: string[];
  proposed: string[];
  /** The hunk that it is shown and decided with. */
  partOf: string | null;
  dependsOn: string[];
  conflict: string | null;
  /** What it does to the file itself, in words; it has no lines. */
  file: string | null;
  /** The decisions that can be made about it as it stands. */
  ways: Choice[];
}

export interface Edit {
  id: string;
  /** When, in milliseconds since 1970; some sidecars do not tell. */
  made?: number | null;
  agent: string;
  connection: string | null;
  conversation: string;
  tool: string;
  /** Why, as the agent says; some sidecars do not tell. */
  reason?: string | null;
  mode: Value<"Edit.mode">;
  status: Value<"Edit.status">;
  hunks: Hunk[];
}

/** Who waits for decisions of the person. */
export interface Waiting {
  agents: string[];
}

export interface PendingEdits {
  uri: string;
  version: number | null;
  owner: string | null;
  readOnly: boolean;
  edits: Edit[];
}

export type Choice = Value<"hashline/decide.decision">;

export interface Decide {
  decision: Choice;
  uri: string | null;
  edit: string | null;
  hunk: number | null;
  conversation: string | null;
  lines: Lines | null;
  reason: string | null;
  text: string[] | null;
  edited: Value<"hashline/decide.edited"> | null;
  withOthers: boolean;
}

export interface Refusal {
  hunk: string;
  why: Value<"Refusal.why">;
  message: string;
  others: string[];
}

export interface Decided {
  queued: string[];
  refused: Refusal[];
}

export interface ProposedText {
  uri: string;
}

/** Where a hunk is in a text with held hunks in it. */
export interface Place {
  hunk: string;
  lines: Lines;
  /** The lines of the document that they stand for. */
  replaced: Lines;
}

export interface ProposedTextResult {
  text: string;
  version: number | null;
  /** The hunks that it has and the document has not, in text order. Nothing else differs. */
  places: Place[];
}

export interface History {
  uri: string;
}

/** Everything that was done to a document by edits, whatever was decided about them. */
export interface HistoryResult {
  /** The version that lines belong to; null when it is not open here. */
  version: number | null;
  /** The editor that decides about them, when it is another one. */
  owner: string | null;
  /** They can be looked at but not decided here. */
  readOnly: boolean;
  edits: Edit[];
}

/** What brought a change about, where it was not typing. */
export interface Cause {
  uri: string;
  /** The version that the change makes. */
  version: number;
  cause: Value<"hashline/cause.cause">;
  /** The number that came with the edit, where it is a delivery. */
  delivery: number | null;
}

export interface Status {
  version: string;
  roots: string[];
  documents: number;
  pending: number;
  conflicted: number;
  agents: string[];
  socket: string | null;
}

/** A decision with every field of the page, null where nothing was said. */
export function decide(said: Partial<Decide> & Pick<Decide, "decision">): Decide {
  return {
    uri: null,
    edit: null,
    hunk: null,
    conversation: null,
    lines: null,
    reason: null,
    text: null,
    edited: null,
    withOthers: false,
    ...said,
  };
}

/** Fails to compile where a type has other fields than its table lists. */
type Has<Type, Fields extends readonly PropertyKey[]> = [keyof Type, Fields[number]] extends [
  Fields[number],
  keyof Type,
]
  ? true
  : never;

export const TYPES_HAVE_THE_FIELDS: [
  Has<Announcement, typeof TYPES.Announcement>,
  Has<Edit, typeof TYPES.Edit>,
  Has<Hunk, typeof TYPES.Hunk>,
  Has<Lines, typeof TYPES.Lines>,
  Has<Place, typeof TYPES.Place>,
  Has<Refusal, typeof TYPES.Refusal>,
  Has<PendingEdits, (typeof MESSAGES)["hashline/pendingEdits"]["params"]>,
  Has<Waiting, (typeof MESSAGES)["hashline/waiting"]["params"]>,
  Has<Decide, (typeof MESSAGES)["hashline/decide"]["params"]>,
  Has<Decided, (typeof MESSAGES)["hashline/decide"]["result"]>,
  Has<ProposedText, (typeof MESSAGES)["hashline/proposedText"]["params"]>,
  Has<ProposedTextResult, (typeof MESSAGES)["hashline/proposedText"]["result"]>,
  Has<History, (typeof MESSAGES)["hashline/history"]["params"]>,
  Has<HistoryResult, (typeof MESSAGES)["hashline/history"]["result"]>,
  Has<Cause, (typeof MESSAGES)["hashline/cause"]["params"]>,
  Has<Status, (typeof MESSAGES)["hashline/status"]["result"]>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true];
