/** Going from hunk to hunk, across files. The person asks for it each time: only then a file is opened or the cursor moved. */
import * as vscode from "vscode";
import { isThere } from "./files";
import type { Lines } from "./protocol";
import { type Entry, hunkAt, inTextOrder, isInText, rowOf } from "./review/hunks";
import type { Review, ReviewDocument } from "./review/model";
import { announcement } from "./review/wording";
import { documentUri, keyOf } from "./views/compareAddresses";
import { nameOf } from "./views/fileNames";
import { saying } from "./views/statusMessage";

/** How long the place of a hunk in a file that was just opened is waited for. */
const PLACE_MS = 2000;

export interface Stop {
  document: ReviewDocument;
  entry: Entry;
}

/** What is shown of a document otherwise than as its file. */
export interface OtherViews {
  /** Where hunks are in the right side of a comparison; none of another text. */
  placesIn(document: vscode.TextDocument): ReadonlyMap<string, Lines> | undefined;
  /** Shows a hunk of a file that is not there. */
  show(stop: Stop): Promise<void>;
}

/** Where the cursor is. */
function spotOf(editor: vscode.TextEditor | undefined): string {
  return editor ? `${editor.document.uri} ${editor.selection.active.line}` : "";
}

export class Navigation implements vscode.Disposable {
  /** The hunk that was gone to, and where that left the cursor: several may share a row, and some have none. */
  private goneTo: { name: string; spot: string } | undefined;
  private readonly gone = new vscode.EventEmitter<void>();
  /** A hunk was gone to. The editor tells of the cursor later, and of none that was there before. */
  readonly onDidGo = this.gone.event;

  constructor(
    private readonly review: Review,
    private readonly otherViews: OtherViews,
  ) {}

  dispose(): void {
    this.gone.dispose();
  }

  /** The hunk that is meant where the cursor is. */
  meant(editor = vscode.window.activeTextEditor): Stop | undefined {
    const document = editor && this.review.of(keyOf(editor.document.uri));
    if (!editor || !document) {
      return undefined;
    }
    const entries = this.entriesIn(editor, document);
    const there = this.goneTo?.spot === spotOf(editor) ? this.goneTo.name : undefined;
    const gone =
      there === undefined
        ? undefined
        : entries.find(
            ({ name, hunk, lines }) => name === there && (hunk.file !== null || lines !== undefined),
          );
    const placed = gone ?? hunkAt(entries, editor.selection.active.line);
    return placed && { document, entry: this.review.find(placed.name)?.entry ?? placed };
  }

  /** The hunks of a document with their lines in the text that an editor shows: the document itself, or a side of a comparison. */
  private entriesIn(editor: vscode.TextEditor, document: ReviewDocument): readonly Entry[] {
    const { uri } = editor.document;
    if (uri.toString() === document.key) {
      return document.entries;
    }
    const places = this.otherViews.placesIn(editor.document);
    if (places) {
      // What is about the file itself stands before its first line, in every text of it.
      return inTextOrder(
        document.entries.map((entry) =>
          entry.hunk.file === null ? { ...entry, lines: places.get(entry.name) } : entry,
        ),
      );
    }
    // The left side of a comparison lacks the hunks that are in the text: without any it is the text.
    const isText = !document.entries.some(({ hunk }) => hunk.file === null && isInText(hunk));
    return document.entries.filter(({ hunk }) => isText || hunk.file !== null);
  }

  private stops(): Stop[] {
    return this.review.all().flatMap((document) => document.entries.map((entry) => ({ document, entry })));
  }

  /** Says which hunk the cursor is at, where something else has brought it there. */
  sayWhere(): void {
    const stop = this.meant();
    if (stop) {
      const stops = this.stops();
      this.say(stop, stops.findIndex(({ entry }) => entry.name === stop.entry.name) + 1, stops.length);
    }
  }

  private say({ document, entry }: Stop, position: number, total: number): void {
    const file = nameOf(vscode.Uri.parse(document.uri));
    saying.say(announcement(entry, document, position, total, file));
  }

  /** Goes one hunk on (1) or back (-1), to other files after the last or before the first of this one. */
  async step(direction: 1 | -1): Promise<void> {
    const stops = this.stops();
    if (stops.length === 0) {
      saying.say("Hashline: Nothing to decide");
      return;
    }
    const index = (this.from(stops, direction) + direction + stops.length) % stops.length;
    await this.go(stops[index] as Stop, index + 1, stops.length);
  }

  /** The number of the hunk that one goes from. */
  private from(stops: readonly Stop[], direction: 1 | -1): number {
    const editor = vscode.window.activeTextEditor;
    const here = this.goneTo?.spot === spotOf(editor) ? this.goneTo.name : this.meant(editor)?.entry.name;
    const at = stops.findIndex(({ entry }) => entry.name === here);
    if (at >= 0 || !editor) {
      return at >= 0 ? at : direction === 1 ? -1 : 0;
    }
    const key = keyOf(editor.document.uri);
    const row = editor.selection.active.line;
    const document = this.review.of(key);
    const lines = new Map(
      (document ? this.entriesIn(editor, document) : []).map((entry) => [entry.name, entry.lines]),
    );
    const isBefore = (stop: Stop) =>
      stop.document.key === key
        ? (lines.get(stop.entry.name)?.start ?? Number.POSITIVE_INFINITY) <= row
        : stop.document.key < key;
    const before = stops.filter(isBefore).length;
    return direction === 1 ? before - 1 : before;
  }

  /** Shows a hunk: in the comparison that one is in, else in its file. */
  async go(stop: Stop, position?: number, total?: number, preserveFocus = false): Promise<void> {
    const uri = vscode.Uri.parse(stop.document.uri);
    const active = vscode.window.activeTextEditor;
    const beside = active && keyOf(active.document.uri) === stop.document.key;
    const place = beside ? this.otherViews.placesIn(active.document)?.get(stop.entry.name) : undefined;
    let entry: Entry | undefined = stop.entry;
    if (active && place) {
      reveal(active, place);
    } else if (uri.scheme === "file" && !(await isThere(uri))) {
      await this.otherViews.show(stop);
    } else {
      // A comparison that one goes on from stays.
      const preview = active === undefined || documentUri(active.document.uri) === active.document.uri;
      const editor = await vscode.window.showTextDocument(uri, { preview, preserveFocus });
      entry = await this.placed(stop.entry, uri.toString());
      if (!entry) {
        return;
      }
      reveal(editor, entry.lines ?? { start: 0, end: 0 });
    }
    this.goneTo = { name: entry.name, spot: spotOf(vscode.window.activeTextEditor) };
    this.gone.fire(); // before it is said where one is: a person who reads that uses the keys
    if (position !== undefined && total !== undefined) {
      this.say({ document: stop.document, entry }, position, total);
    }
  }

  /** The hunk as it is when its file is open: the sidecar tells its place then. */
  private async placed(entry: Entry, key: string): Promise<Entry | undefined> {
    if (entry.hunk.decision !== "undecided" && !entry.hunk.deciding) {
      return entry; // no list has it: its place is that of the history
    }
    const now = () => this.review.of(key)?.entries.find(({ name }) => name === entry.name);
    if (this.review.of(key)?.version != null) {
      return now();
    }
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        subscription.dispose();
        resolve();
      };
      const timer = setTimeout(done, PLACE_MS);
      const subscription = this.review.subscribe((document) => {
        if (document.key === key && document.version !== null) {
          done();
        }
      });
    });
    return now();
  }
}

function reveal(editor: vscode.TextEditor, lines: Lines): void {
  const { lineCount } = editor.document;
  const row = rowOf(lines, lineCount);
  const at = new vscode.Position(row, editor.document.lineAt(row).firstNonWhitespaceCharacterIndex);
  editor.selection = new vscode.Selection(at, at);
  const end = Math.min(Math.max(lines.end, row), lineCount - 1);
  editor.revealRange(new vscode.Range(row, 0, end, 0), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
