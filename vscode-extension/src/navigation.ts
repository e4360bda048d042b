/** Going from hunk to hunk, across files. The person asks for it each time: only then a file is opened or the cursor moved. */
import * as vscode from "vscode";
import { type Entry, hunkAt, rowOf } from "./review/hunks";
import type { Review, ReviewDocument } from "./review/model";
import { announcement } from "./review/wording";
import { nameOf } from "./views/tree";

/** How long it is said where one is. */
const SAID_MS = 6000;
/** How long the place of a hunk in a file that was just opened is waited for. */
const PLACE_MS = 2000;

interface Stop {
  document: ReviewDocument;
  entry: Entry;
}

export class Navigation {
  /** The hunk that was gone to: several may share a row. */
  private goneTo: { uri: string; row: number; name: string } | undefined;

  constructor(private readonly review: Review) {}

  /** The hunk that is meant where the cursor is. */
  meant(editor = vscode.window.activeTextEditor): Stop | undefined {
    const document = editor && this.review.of(editor.document.uri.toString());
    if (!editor || !document) {
      return undefined;
    }
    const row = editor.selection.active.line;
    const { goneTo } = this;
    const there = goneTo?.uri === document.key && goneTo.row === row;
    const entry =
      document.entries.find(({ name, hunk, lines }) => {
        return there && name === goneTo.name && (hunk.file !== null || lines !== undefined);
      }) ?? hunkAt(document.entries, row);
    return entry && { document, entry };
  }

  /** Goes one hunk on (1) or back (-1), to other files after the last or before the first of this one. */
  async step(direction: 1 | -1): Promise<void> {
    const stops = this.review
      .all()
      .flatMap((document) => document.entries.map((entry) => ({ document, entry })));
    if (stops.length === 0) {
      vscode.window.setStatusBarMessage("Hashline: nothing to decide", SAID_MS);
      return;
    }
    const index = (this.from(stops, direction) + direction + stops.length) % stops.length;
    await this.go(stops[index] as Stop, index + 1, stops.length);
  }

  /** The number of the hunk that one goes from. */
  private from(stops: readonly Stop[], direction: 1 | -1): number {
    const editor = vscode.window.activeTextEditor;
    const key = editor?.document.uri.toString();
    const meant = this.meant(editor);
    const at = meant ? stops.findIndex(({ entry }) => entry.name === meant.entry.name) : -1;
    if (at >= 0 || !editor) {
      return at >= 0 ? at : direction === 1 ? -1 : 0;
    }
    const row = editor.selection.active.line;
    const isBefore = ({ document, entry }: Stop) =>
      document.key === key
        ? (entry.lines?.start ?? Number.POSITIVE_INFINITY) <= row
        : document.key < (key ?? "");
    const before = stops.filter(isBefore).length;
    return direction === 1 ? before - 1 : before;
  }

  /** Shows a hunk in its file. */
  async go(stop: Stop, position?: number, total?: number, preserveFocus = false): Promise<void> {
    const uri = vscode.Uri.parse(stop.document.uri);
    const editor = await vscode.window.showTextDocument(uri, { preview: true, preserveFocus });
    const entry = await this.placed(stop.entry, uri.toString());
    if (!entry) {
      return;
    }
    const { lineCount } = editor.document;
    const row = rowOf(entry.lines ?? { start: 0, end: 0 }, lineCount);
    const at = new vscode.Position(row, editor.document.lineAt(row).firstNonWhitespaceCharacterIndex);
    editor.selection = new vscode.Selection(at, at);
    const end = Math.min(Math.max(entry.lines?.end ?? 0, row), lineCount - 1);
    editor.revealRange(
      new vscode.Range(row, 0, end, 0),
      vscode.TextEditorRevealType.InCenterIfOutsideViewport,
    );
    this.goneTo = { uri: uri.toString(), row, name: entry.name };
    if (position !== undefined && total !== undefined) {
      vscode.window.setStatusBarMessage(announcement(entry, position, total, nameOf(uri)), SAID_MS);
    }
  }

  /** The hunk as it is when its file is open: the sidecar tells its place then. */
  private async placed(entry: Entry, key: string): Promise<Entry | undefined> {
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
