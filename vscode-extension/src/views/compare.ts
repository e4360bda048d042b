/**
 * Comparisons in VS Code's own diff editors.
 *
 * On the left is the text without the agents' hunks, on the right the text with them. The right side can be edited: it is the file itself
 * where all hunks are in its text already, else a text of its own with the held hunks in it, and saving that accepts them as they stand
 * there.
 */
import * as vscode from "vscode";
import type { Decisions } from "../decisions";
import { reasonOf } from "../failure";
import { isThere } from "../files";
import { type History, removedBy, renamedBy } from "../history";
import type { Lines, Refusal } from "../protocol";
import { fileChangeOf } from "../review/fileChange";
import type { Entry } from "../review/hunks";
import { isInText } from "../review/hunks";
import type { Review, ReviewDocument } from "../review/model";
import {
  carriedOver,
  type LineEdit,
  type Proposed,
  placesNow,
  proposedIn,
  type Revision,
  revisionOf,
  withoutHunks,
} from "../review/proposal";
import type { Sidecar } from "../sidecar";
import { addressOf, BASE, documentUri, keyOf, NOTHING, PROPOSED, shownFor } from "./compareAddresses";

const TORN: Record<NonNullable<Revision["torn"]>, string> = {
  overAnEdge:
    "One change covers a hunk and lines outside it. Undo it, then change the hunk and the other lines separately, or change the file itself.",
  builtOn:
    "You changed lines of a hunk that another hunk builds on. Undo that, accept the hunk that you changed, then change its lines in the file.",
};

const SAVED_BY_ITSELF =
  "Nothing is accepted when a comparison is saved by itself. Save it yourself to accept the edits as they stand here.";

const CHANGED_BY_SAVING =
  "What your settings do on saving may have changed lines here that you did not. Undo that, and save with File: Save without Formatting.";

const isDrawn = ({ hunk, lines }: Entry) => hunk.file === null && lines !== undefined;

export interface Sides {
  left: vscode.Uri;
  right: vscode.Uri;
}

interface Proposal {
  bytes: Uint8Array;
  text: string;
  version: number | null;
  hunks: readonly Proposed[];
  mtime: number;
}

export class Compare
  implements vscode.FileSystemProvider, vscode.TextDocumentContentProvider, vscode.Disposable
{
  private readonly disposables: vscode.Disposable[];
  /** By the document that they are of: its address changes when the folders of the window do. */
  private readonly proposals = new Map<string, Proposal>();
  /** Why those are being saved that are being saved; one that is saved without formatting says nothing. */
  private readonly saving = new Map<string, vscode.TextDocumentSaveReason>();
  private readonly proposedChanged = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  private readonly baseChanged = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChangeFile = this.proposedChanged.event;
  readonly onDidChange = this.baseChanged.event;

  constructor(
    private readonly review: Review,
    private readonly sidecar: Sidecar,
    private readonly decisions: Decisions,
    private readonly history: History,
    private readonly failed: (error: unknown) => void,
  ) {
    this.disposables = [
      this.proposedChanged,
      this.baseChanged,
      vscode.workspace.registerFileSystemProvider(PROPOSED, this, { isCaseSensitive: true }),
      vscode.workspace.registerTextDocumentContentProvider(BASE, this),
      vscode.workspace.registerTextDocumentContentProvider(NOTHING, { provideTextDocumentContent: () => "" }),
      vscode.workspace.onWillSaveTextDocument(({ document: { uri }, reason }) => {
        if (uri.scheme === PROPOSED) {
          this.saving.set(keyOf(uri), reason);
        }
      }),
      review.follow((document) => this.renew(document)),
    ];
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  /** Compares one document, at a hunk of it. Says whether there are lines to compare. */
  async open(document: ReviewDocument, entry?: Entry): Promise<boolean> {
    const sides = this.sidesOf(document);
    if (!sides) {
      return false;
    }
    const name = vscode.workspace.asRelativePath(vscode.Uri.parse(document.uri));
    const title = `${name} ↔ with the agents' edits${sides.right.scheme === PROPOSED ? " (saving accepts)" : ""}`;
    const row = await this.rowOnTheRight(entry, sides.right);
    const options = row === undefined ? {} : { selection: new vscode.Range(row, 0, row, 0) };
    await vscode.commands.executeCommand("vscode.diff", sides.left, sides.right, title, {
      preview: true,
      ...options,
    });
    return true;
  }

  /** The sides of a document in a comparison of several. A file that is made has none on the left. */
  async sidesAmongOthers(document: ReviewDocument): Promise<{ left?: vscode.Uri; right: vscode.Uri }> {
    const file = vscode.Uri.parse(document.uri);
    const entry = document.entries.find(({ hunk }) => hunk.file !== null);
    const change = entry && fileChangeOf(entry.hunk);
    if (entry && change?.kind === "rename") {
      const [before, after] = isInText(entry.hunk)
        ? [renamedBy(await this.patchOf(file, entry)), undefined]
        : [undefined, change.to];
      return { left: addressOf(BASE, document, before), right: addressOf(PROPOSED, document, after) };
    }
    switch (change?.kind) {
      case "create":
        return { right: addressOf(PROPOSED, document) };
      case "remove": {
        // VS Code would mark it by itself if it had no right side, but then it would have the cursor in a text that nobody knows.
        const shown = vscode.workspace.asRelativePath(file).replace(/([^/]*)$/, "(deleted)/$1");
        return { left: addressOf(BASE, document, shown), right: addressOf(NOTHING, document, shown) };
      }
      default:
        // With the file itself on the right, what is undone would be unsaved work of this comparison's.
        return this.sidesOf(document)
          ? { left: addressOf(BASE, document), right: addressOf(PROPOSED, document) }
          : { left: addressOf(BASE, document), right: file }; // all of it is conflicted, which is drawn there
    }
  }

  /** An edit as the history has it; nothing where that does not say it, as others are still to be compared. */
  private async patchOf(file: vscode.Uri, { edit }: Entry): Promise<string> {
    try {
      return await this.history.patchOf(file, edit.id);
    } catch (error) {
      this.failed(error);
      return "";
    }
  }

  private sidesOf(document: ReviewDocument): Sides | undefined {
    const drawn = document.entries.filter(isDrawn);
    const held = drawn.some(({ hunk }) => hunk.state === "held");
    const inText = drawn.some(({ hunk }) => isInText(hunk));
    if (!held && !inText) {
      return undefined;
    }
    // A file that is shown is open, and one that is open is removed or renamed only once it is closed.
    const changesFile = document.entries.some(({ hunk }) => hunk.file !== null);
    // Never the file itself on the left: VS Code saves both sides, and with it work that the person did not ask to save.
    return {
      left: addressOf(BASE, document),
      right: held || changesFile ? addressOf(PROPOSED, document) : vscode.Uri.parse(document.uri),
    };
  }

  private async rowOnTheRight(entry: Entry | undefined, right: vscode.Uri): Promise<number | undefined> {
    if (entry && right.scheme === PROPOSED) {
      const { hunks } = await this.proposal(keyOf(right));
      return hunks.find(({ name }) => name === entry.name)?.lines.start;
    }
    return entry?.lines?.start;
  }

  /** Where the hunks are in a right side as the person has it now, but for conflicted ones; none of another document. */
  placesIn(document: vscode.TextDocument): ReadonlyMap<string, Lines> | undefined {
    const key = keyOf(document.uri);
    const proposal = document.uri.scheme === PROPOSED ? this.proposals.get(key) : undefined;
    if (!proposal) {
      return undefined;
    }
    const inText = (this.review.of(key)?.entries ?? []).flatMap(({ name, hunk, lines }) => {
      const place = lines && isInText(hunk) ? carriedOver(lines, proposal.hunks) : undefined;
      return place ? [{ name, lines: place }] : [];
    });
    return placesNow(proposal.text, document.getText(), [...proposal.hunks, ...inText]);
  }

  /** A list has come: texts that are shown are made anew. */
  private renew({ key }: ReviewDocument): void {
    if (this.proposals.has(key)) {
      this.renewProposal(key).catch((error) => this.failed(error));
    }
    for (const address of shownFor(BASE, key)) {
      this.baseChanged.fire(address);
    }
  }

  /** With another text it is newer for VS Code, too: it does not save over what the person has not seen. */
  private async renewProposal(key: string): Promise<void> {
    const fresh = await this.make(key);
    const known = this.proposals.get(key);
    const shown = shownFor(PROPOSED, key);
    if (known?.text === fresh.text) {
      fresh.mtime = known.mtime;
      this.proposals.set(key, fresh);
    } else if (shown.length > 0) {
      this.proposals.set(key, fresh);
      this.proposedChanged.fire(shown.map((uri) => ({ type: vscode.FileChangeType.Changed, uri })));
    } else {
      this.proposals.delete(key);
    }
  }

  async provideTextDocumentContent(address: vscode.Uri): Promise<string> {
    const uri = documentUri(address);
    const entries = this.review.of(uri.toString())?.entries ?? [];
    const removal = entries.find(({ hunk }) => fileChangeOf(hunk)?.kind === "remove");
    if (removal && isInText(removal.hunk)) {
      return removedBy(await this.patchOf(uri, removal));
    }
    const { text } = await textOf(uri);
    return withoutHunks(text, entries);
  }

  private async proposal(key: string): Promise<Proposal> {
    const known = this.proposals.get(key) ?? (await this.make(key));
    this.proposals.set(key, known);
    return known;
  }

  /** With nothing to decide any more, it is the text of the file. */
  private async make(key: string): Promise<Proposal> {
    const document = this.review.of(key);
    const { text, version, places } = document
      ? await this.sidecar.proposedText(document.uri)
      : { ...(await textOf(vscode.Uri.parse(key))), places: [] };
    const hunks = proposedIn(places, document?.edits ?? []);
    return { text, version, hunks, bytes: new TextEncoder().encode(text), mtime: Date.now() };
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  async stat(address: vscode.Uri): Promise<vscode.FileStat> {
    const { bytes, mtime } = await this.proposal(keyOf(address));
    return { type: vscode.FileType.File, ctime: 0, mtime, size: bytes.length };
  }

  async readFile(address: vscode.Uri): Promise<Uint8Array> {
    return (await this.proposal(keyOf(address))).bytes;
  }

  /** Saved: the hunks are accepted as they stand in it. Where that cannot be, it stays as not saved, and nothing of it is lost. */
  async writeFile(address: vscode.Uri, content: Uint8Array): Promise<void> {
    const key = keyOf(address);
    const reason = this.saving.get(key);
    this.saving.delete(key);
    if (reason !== undefined && reason !== vscode.TextDocumentSaveReason.Manual) {
      throw vscode.FileSystemError.Unavailable(SAVED_BY_ITSELF);
    }
    const proposal = await this.proposal(key);
    const text = new TextDecoder().decode(content);
    if (reason !== undefined && text !== proposal.text && changesOnSave(address)) {
      throw vscode.FileSystemError.Unavailable(CHANGED_BY_SAVING);
    }
    const { revised, elsewhere, torn } = revisionOf(proposal.text, text, proposal.hunks);
    if (torn) {
      throw vscode.FileSystemError.Unavailable(TORN[torn]);
    }
    const uri = documentUri(address);
    if (revised.size > 0 && proposal.version === null) {
      const name = vscode.workspace.asRelativePath(uri);
      throw vscode.FileSystemError.Unavailable(
        `${name} is not open, and your version of a hunk goes into an open text. Open it, then save here again.`,
      );
    }
    if (elsewhere.length > 0) {
      await typeElsewhere(uri, elsewhere, proposal.version);
    }
    await this.accept(
      proposal.hunks.map(({ name }) => name),
      revised,
    );
  }

  private async accept(names: readonly string[], revised: ReadonlyMap<string, string[]>): Promise<void> {
    let refused: readonly Refusal[];
    try {
      refused = await this.decisions.accept(names, revised);
    } catch (error) {
      throw vscode.FileSystemError.Unavailable(
        `Not accepted: ${reasonOf(error)}. Restart it, then save here again.`,
      );
    }
    if (refused[0]) {
      const more = refused.length > 1 ? ` (and ${refused.length - 1} more)` : "";
      throw vscode.FileSystemError.Unavailable(`${refused[0].message}${more}`);
    }
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  delete(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  rename(): void {
    throw vscode.FileSystemError.NoPermissions();
  }
}

/** The text of a document as the editor has it; nothing of a file that is not there, as one that is to be made. */
async function textOf(uri: vscode.Uri): Promise<{ text: string; version: number | null }> {
  if (uri.scheme === "file" && !(await isThere(uri))) {
    return { text: "", version: null };
  }
  const document = await vscode.workspace.openTextDocument(uri);
  return { text: document.getText(), version: document.version };
}

/** Whether settings let VS Code change a text when it is saved. */
function changesOnSave(address: vscode.Uri): boolean {
  const shown = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === address.toString());
  const settings = vscode.workspace.getConfiguration(undefined, shown ?? address);
  const actions = settings.get<Record<string, unknown>>("editor.codeActionsOnSave") ?? {};
  return (
    [
      "files.trimTrailingWhitespace",
      "files.insertFinalNewline",
      "files.trimFinalNewlines",
      "editor.formatOnSave",
    ].some((setting) => settings.get(setting) === true) ||
    Object.values(actions).some((when) => when !== false && when !== "never")
  );
}

/** What the person has changed beside the hunks is typed into the file itself. */
async function typeElsewhere(
  uri: vscode.Uri,
  edits: readonly LineEdit[],
  version: number | null,
): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  const moved = version !== null && document.version !== version;
  const edit = new vscode.WorkspaceEdit();
  for (const { start, end, lines } of edits) {
    edit.replace(uri, ...replacement(document, start, end, lines));
  }
  if (moved || !(await vscode.workspace.applyEdit(edit))) {
    throw vscode.FileSystemError.Unavailable(
      "The file has changed meanwhile. Compare again, and make your changes there.",
    );
  }
}

function replacement(
  document: vscode.TextDocument,
  start: number,
  end: number,
  lines: readonly string[],
): [vscode.Range, string] {
  if (end < document.lineCount) {
    return [new vscode.Range(start, 0, end, 0), lines.map((line) => `${line}\n`).join("")];
  }
  // There is no line after it: the ending before it goes and comes with it.
  const last = document.lineAt(document.lineCount - 1).range.end;
  if (start === 0) {
    return [new vscode.Range(new vscode.Position(0, 0), last), lines.join("\n")];
  }
  const before = document.lineAt(start - 1).range.end;
  return [new vscode.Range(before, last), lines.map((line) => `\n${line}`).join("")];
}
