/**
 * Comparisons in VS Code's own diff editors.
 *
 * On the left is the text without the agents' hunks, on the right the text with them. The right side can be edited: it is the file itself
 * where all hunks are in its text already, else a text of its own with the held hunks in it, and saving that accepts them as they stand
 * there.
 */
import * as vscode from "vscode";
import type { Decisions } from "../decisions";
import type { Entry } from "../review/hunks";
import { isInText } from "../review/hunks";
import type { Review, ReviewDocument } from "../review/model";
import { type LineEdit, placesOfProposed, revisionOf, withoutHunks } from "../review/proposal";
import type { Sidecar } from "../sidecar";

export const PROPOSED = "hashline-proposed";
const BASE = "hashline-base";

/** The address of a text that belongs to a document. Its path gives it a name and a language: the one in the workspace, as that is shown. */
function addressOf(scheme: string, document: ReviewDocument): vscode.Uri {
  const path = vscode.workspace.asRelativePath(vscode.Uri.parse(document.uri));
  return vscode.Uri.from({ scheme, path: path.startsWith("/") ? path : `/${path}`, query: document.uri });
}

/** The document that such an address belongs to. */
export function documentUri(address: vscode.Uri): vscode.Uri {
  return address.scheme === PROPOSED || address.scheme === BASE ? vscode.Uri.parse(address.query) : address;
}

const isDrawn = ({ hunk, lines }: Entry) => hunk.file === null && lines !== undefined;

interface Proposal {
  bytes: Uint8Array;
  text: string;
  version: number | null;
  entries: readonly Entry[];
  mtime: number;
}

export class Compare
  implements vscode.FileSystemProvider, vscode.TextDocumentContentProvider, vscode.Disposable
{
  private readonly disposables: vscode.Disposable[];
  private readonly proposals = new Map<string, Proposal>();
  private readonly proposedChanged = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  private readonly baseChanged = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChangeFile = this.proposedChanged.event;
  readonly onDidChange = this.baseChanged.event;

  constructor(
    private readonly review: Review,
    private readonly sidecar: Sidecar,
    private readonly decisions: Decisions,
    private readonly failed: (error: unknown) => void,
  ) {
    this.disposables = [
      this.proposedChanged,
      this.baseChanged,
      vscode.workspace.registerFileSystemProvider(PROPOSED, this, { isCaseSensitive: true }),
      vscode.workspace.registerTextDocumentContentProvider(BASE, this),
      review.subscribe((document) => this.renew(document)),
    ];
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  /** Compares one document, at a hunk of it. */
  async open(document: ReviewDocument, entry?: Entry): Promise<void> {
    const sides = this.sidesOf(document);
    if (!sides) {
      const said = "There are no lines to compare here: what is conflicted is compared by Edit by hand.";
      void vscode.window.showInformationMessage(`Hashline: ${said}`);
      return;
    }
    const name = vscode.workspace.asRelativePath(vscode.Uri.parse(document.uri));
    const title = `${name} ↔ with the agents' edits${sides.right.scheme === PROPOSED ? " (saving accepts)" : ""}`;
    const row = this.rowOnTheRight(document, entry, sides.right);
    const options = row === undefined ? {} : { selection: new vscode.Range(row, 0, row, 0) };
    await vscode.commands.executeCommand("vscode.diff", sides.left, sides.right, title, {
      preview: true,
      ...options,
    });
  }

  /** Compares all documents in one editor. */
  async openAll(): Promise<void> {
    const documents = this.review.all();
    const compared = documents.flatMap((document) => {
      const sides = this.sidesOf(document);
      return sides ? [[vscode.Uri.parse(document.uri), sides.left, sides.right]] : [];
    });
    if (compared.length === 0) {
      void vscode.window.showInformationMessage("Hashline: there are no lines to compare.");
      return;
    }
    await vscode.commands.executeCommand("vscode.changes", "Agents' edits (saving accepts)", compared);
  }

  private sidesOf(document: ReviewDocument): { left: vscode.Uri; right: vscode.Uri } | undefined {
    const drawn = document.entries.filter(isDrawn);
    const held = drawn.some(({ hunk }) => hunk.state === "held");
    const inText = drawn.some(({ hunk }) => isInText(hunk));
    if (!held && !inText) {
      return undefined;
    }
    // Never the file itself on the left: VS Code saves both sides, and with it work that the person did not ask to save.
    return {
      left: addressOf(BASE, document),
      right: held ? addressOf(PROPOSED, document) : vscode.Uri.parse(document.uri),
    };
  }

  private rowOnTheRight(
    document: ReviewDocument,
    entry: Entry | undefined,
    right: vscode.Uri,
  ): number | undefined {
    if (entry && right.scheme === PROPOSED) {
      const place = placesOfProposed(document.entries).find(({ name }) => name === entry.name);
      return place?.lines.start ?? entry.lines?.start;
    }
    return entry?.lines?.start;
  }

  /** A list has come: texts that are shown are made anew. */
  private renew(document: ReviewDocument): void {
    const [proposed, base] = [addressOf(PROPOSED, document), addressOf(BASE, document)];
    if (this.proposals.has(proposed.toString())) {
      this.renewProposal(proposed).catch((error) => this.failed(error));
    }
    if (vscode.workspace.textDocuments.some(({ uri }) => uri.toString() === base.toString())) {
      this.baseChanged.fire(base);
    }
  }

  /** With another text it is newer for VS Code, too: it does not save over what the person has not seen. */
  private async renewProposal(address: vscode.Uri): Promise<void> {
    const key = address.toString();
    const fresh = await this.make(address);
    const known = this.proposals.get(key);
    if (known?.text === fresh.text) {
      fresh.mtime = known.mtime;
      this.proposals.set(key, fresh);
    } else if (vscode.workspace.textDocuments.some(({ uri }) => uri.toString() === key)) {
      this.proposals.set(key, fresh);
      this.proposedChanged.fire([{ type: vscode.FileChangeType.Changed, uri: address }]);
    } else {
      this.proposals.delete(key);
    }
  }

  async provideTextDocumentContent(address: vscode.Uri): Promise<string> {
    const uri = documentUri(address);
    const text = (await vscode.workspace.openTextDocument(uri)).getText();
    return withoutHunks(text, this.review.of(uri.toString())?.entries ?? []);
  }

  private async proposal(address: vscode.Uri): Promise<Proposal> {
    const known = this.proposals.get(address.toString()) ?? (await this.make(address));
    this.proposals.set(address.toString(), known);
    return known;
  }

  private async make(address: vscode.Uri): Promise<Proposal> {
    const uri = documentUri(address);
    const entries = this.review.of(uri.toString())?.entries ?? [];
    const copies = entries.map((entry) => ({ ...entry, lines: entry.lines && { ...entry.lines } }));
    const proposed = await this.proposedText(uri, entries);
    return {
      ...proposed,
      bytes: new TextEncoder().encode(proposed.text),
      entries: copies,
      mtime: Date.now(),
    };
  }

  /** With nothing to decide any more, it is the text of the file. */
  private async proposedText(
    uri: vscode.Uri,
    entries: readonly Entry[],
  ): Promise<{ text: string; version: number | null }> {
    if (entries.length > 0) {
      return this.sidecar.proposedText(this.review.of(uri.toString())?.uri ?? uri.toString());
    }
    const document = await vscode.workspace.openTextDocument(uri);
    return { text: document.getText(), version: document.version };
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  async stat(address: vscode.Uri): Promise<vscode.FileStat> {
    const { bytes, mtime } = await this.proposal(address);
    return { type: vscode.FileType.File, ctime: 0, mtime, size: bytes.length };
  }

  async readFile(address: vscode.Uri): Promise<Uint8Array> {
    return (await this.proposal(address)).bytes;
  }

  /** Saved: the hunks are accepted as they stand in it. */
  async writeFile(address: vscode.Uri, content: Uint8Array): Promise<void> {
    const proposal = await this.proposal(address);
    const hunks = placesOfProposed(proposal.entries);
    const text = new TextDecoder().decode(content);
    const { revised, elsewhere, torn } = revisionOf(proposal.text, text, hunks);
    if (torn) {
      throw vscode.FileSystemError.Unavailable(
        "A change goes over the edge of a hunk. Undo it and change the hunk and the lines around it one after the other, or change the file itself.",
      );
    }
    const uri = documentUri(address);
    if (elsewhere.length > 0) {
      await typeElsewhere(uri, elsewhere, proposal.version);
    }
    await this.decisions.accept(
      hunks.map(({ name }) => name),
      revised,
    );
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
