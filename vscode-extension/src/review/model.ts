/**
 * What the sidecar has said is pending, document by document, and where it is in the texts now.
 *
 * The line numbers of a list belong to the document version that it names. What was typed since is known here, so a list for
 * an older version is brought to the text as it is now, and what is shown moves with the typing until the next list comes.
 */
import type { Edit, Lines, PendingEdits } from "../protocol";
import { type Entry, entriesOf, isStill, type LineChange, shiftAll } from "./hunks";
import { Pieces } from "./workInPieces";

export interface ReviewDocument {
  /** As the sidecar writes it. */
  readonly uri: string;
  /** One spelling for all spellings of the URI. */
  readonly key: string;
  readonly version: number | null;
  readonly owner: string | null;
  readonly readOnly: boolean;
  readonly edits: readonly Edit[];
  /** Undecided hunks, in text order. */
  readonly entries: readonly Entry[];
}

interface Changed extends LineChange {
  version: number;
}

interface OpenText {
  /** Since the newest list, oldest first. */
  changes: Changed[];
  /** All changes after this version are in `changes`. */
  knownFrom: number;
}

/** More are not kept: by then a newer list has long been due. */
const MOST_CHANGES = 1000;

export class Review {
  private readonly known = new Map<string, ReviewDocument>();
  private readonly open = new Map<string, OpenText>();
  private readonly listeners = new Set<(document: ReviewDocument) => void>();
  private readonly pieces = new Pieces();
  /** Made when it is asked for, and none when something has changed since. */
  private byName: ReadonlyMap<string, { document: ReviewDocument; entry: Entry }> | undefined;

  /** @param keyOf gives one spelling for all spellings of a URI */
  constructor(private readonly keyOf: (uri: string) => string) {}

  /** Calls back after each change of what is pending in a document. */
  subscribe(listener: (document: ReviewDocument) => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /**
   * Calls back after changes, too, but in a turn of its own, and once for all that a document has changed meanwhile: for what is not
   * seen in the text, where the person types.
   */
  follow(listener: (document: ReviewDocument) => void): { dispose(): void } {
    const waiting = new Map<string, ReviewDocument>();
    const subscription = this.subscribe((document) => {
      const isFirst = waiting.size === 0;
      waiting.set(document.key, document);
      if (isFirst) {
        this.inTurn(() => {
          const changed = [...waiting.values()];
          waiting.clear();
          changed.forEach(listener);
        });
      }
    });
    return {
      dispose: () => {
        subscription.dispose();
        waiting.clear();
      },
    };
  }

  /** Does work that comes of changes: one piece of it in each turn. */
  inTurn(piece: () => void): void {
    this.pieces.add(piece);
  }

  dispose(): void {
    this.pieces.dispose();
  }

  /** Takes in a list of the sidecar's. */
  receive(list: PendingEdits): void {
    const key = this.keyOf(list.uri);
    const before = this.known.get(key);
    if (
      before?.version != null &&
      list.version !== null &&
      list.version < before.version &&
      this.open.has(key)
    ) {
      return; // older than what is shown
    }
    const entries = entriesOf(list.edits);
    const text = this.open.get(key);
    if (text && list.version !== null) {
      this.bringToNow(entries, list.version, text, before);
    }
    const { uri, version, owner, readOnly, edits } = list;
    const document = { uri, key, version, owner, readOnly, edits, entries };
    if (edits.length === 0) {
      this.known.delete(key);
    } else {
      this.known.set(key, document);
    }
    this.publish(document);
  }

  private bringToNow(entries: Entry[], version: number, text: OpenText, before?: ReviewDocument): void {
    text.changes = text.changes.filter((change) => change.version > version);
    if (version >= text.knownFrom) {
      shiftAll(placesOf(entries), text.changes);
      return;
    }
    // Too old to be brought to now: what was shown before is nearer to the truth.
    const shown = new Map(before?.entries.map((entry) => [entry.name, entry.lines]));
    for (const entry of entries) {
      entry.lines = shown.get(entry.name);
    }
  }

  /** A text is open in the editor, or was opened again: its versions count anew. */
  opened(key: string): void {
    this.open.set(key, { changes: [], knownFrom: 0 });
    this.withoutVersion(key);
  }

  closed(key: string): void {
    this.open.delete(key);
    this.withoutVersion(key);
  }

  private withoutVersion(key: string): void {
    const document = this.known.get(key);
    if (document) {
      this.known.set(key, { ...document, version: null });
      this.byName = undefined;
    }
  }

  /** A text has changed, and has this version now. */
  changed(key: string, version: number, changes: readonly LineChange[]): void {
    const text = this.open.get(key);
    if (!text) {
      return;
    }
    const moving = changes.filter((change) => !isStill(change));
    if (moving.length === 0) {
      return; // nearly every key
    }
    for (const change of moving) {
      text.changes.push({ ...change, version });
    }
    if (text.changes.length > MOST_CHANGES) {
      const dropped = text.changes.splice(0, MOST_CHANGES / 2);
      text.knownFrom = dropped.at(-1)?.version ?? text.knownFrom;
    }
    shiftAll(placesOf(this.known.get(key)?.entries ?? []), moving);
  }

  /** The sidecar has ended: nothing of what it said holds any longer. */
  forget(): void {
    const gone = [...this.known.values()];
    this.known.clear();
    this.open.clear();
    for (const document of gone) {
      this.publish({ ...document, version: null, edits: [], entries: [] });
    }
  }

  of(key: string): ReviewDocument | undefined {
    const document = this.known.get(key);
    return document && document.entries.length > 0 ? document : undefined;
  }

  /** The hunk of this name (EDIT:NUMBER) and its document. */
  find(name: string): { document: ReviewDocument; entry: Entry } | undefined {
    this.byName ??= new Map(
      // The first of several comes last, and stays.
      [...this.known.values()]
        .reverse()
        .flatMap((document) => document.entries.map((entry) => [entry.name, { document, entry }] as const)),
    );
    return this.byName.get(name);
  }

  /** All documents with something to decide, by name. */
  all(): ReviewDocument[] {
    const found = [...this.known.values()].filter((document) => document.entries.length > 0);
    return found.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  private publish(document: ReviewDocument): void {
    this.byName = undefined;
    this.pieces.begin();
    for (const listener of this.listeners) {
      listener(document);
    }
  }
}

function placesOf(entries: readonly Entry[]): Lines[] {
  return entries.flatMap(({ lines }) => lines ?? []);
}
