/**
 * Which documents the sidecar hears of: those that the person has in a tab, or that are not saved.
 *
 * VS Code opens documents for extensions, searches and peeks, too. An edit would make such a document dirty, and VS Code opens an
 * editor for each dirty document: something would open because an agent did something. Without a tab a file is its text on the disk.
 */
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

type Send = (document: vscode.TextDocument) => Promise<void>;

/** A document of VS Code's, and how the sidecar is told that it is open. */
interface Known {
  document: vscode.TextDocument;
  open: Send;
}

export class OpenDocuments implements vscode.Disposable {
  /** Documents without a tab. */
  private readonly waiting = new Map<string, Known>();
  /** Those that the sidecar knows as open. */
  private readonly told = new Map<string, Known>();
  private readonly listeners: vscode.Disposable;
  private readonly opened = new vscode.EventEmitter<vscode.TextDocument>();
  private readonly closed = new vscode.EventEmitter<vscode.TextDocument>();

  /** A document is about to be opened for the sidecar. */
  readonly onOpened = this.opened.event;
  readonly onClosed = this.closed.event;

  /** @param close tells the sidecar that a document is closed, which VS Code keeps open without a tab */
  constructor(
    private readonly close: Send,
    private readonly failed: (error: unknown) => void,
  ) {
    const follow = () => this.followTabs().catch(this.failed);
    this.listeners = vscode.Disposable.from(
      vscode.window.tabGroups.onDidChangeTabs(follow),
      // Nothing but whether it is saved has changed.
      vscode.workspace.onDidChangeTextDocument(
        ({ contentChanges }) => contentChanges.length === 0 && follow(),
      ),
    );
  }

  dispose(): void {
    this.listeners.dispose();
    this.opened.dispose();
    this.closed.dispose();
  }

  /** A sidecar ended; the next one knows nothing. */
  reset(): void {
    this.waiting.clear();
    this.told.clear();
  }

  has(uri: vscode.Uri): boolean {
    return this.told.has(uri.toString());
  }

  /** A document has changed that the sidecar does not know: agents are not to write below what is not saved. */
  async changed(document: vscode.TextDocument): Promise<void> {
    const known = this.waiting.get(document.uri.toString());
    if (known && document.isDirty) {
      await this.begin(known);
    }
  }

  readonly middleware: Pick<Middleware, "didOpen" | "didClose" | "didSave"> = {
    didOpen: async (document, open) => {
      if (hasTab(document.uri) || document.isDirty) {
        await this.begin({ document, open });
      } else {
        this.waiting.set(document.uri.toString(), { document, open });
      }
    },
    didClose: async (document, next) => {
      this.waiting.delete(document.uri.toString());
      await this.end(document, next);
    },
    didSave: async (document, next) => {
      if (this.has(document.uri)) {
        await next(document);
      }
    },
  };

  private async begin(known: Known): Promise<void> {
    const { document, open } = known;
    this.waiting.delete(document.uri.toString());
    this.told.set(document.uri.toString(), known);
    this.opened.fire(document);
    await open(document);
  }

  private async end(document: vscode.TextDocument, close: Send): Promise<void> {
    if (this.told.delete(document.uri.toString())) {
      this.closed.fire(document);
      await close(document);
    }
  }

  private async followTabs(): Promise<void> {
    for (const [key, known] of [...this.waiting]) {
      // While one is waited for, another may have been begun, or closed.
      if (this.waiting.get(key) === known && hasTab(known.document.uri)) {
        await this.begin(known);
      }
    }
    for (const [key, known] of [...this.told]) {
      // What is not saved is shown in a tab again at once, by VS Code.
      const isTold = this.told.get(key) === known;
      if (isTold && !hasTab(known.document.uri) && !known.document.isDirty) {
        this.waiting.set(key, known);
        await this.end(known.document, this.close);
      }
    }
  }
}

export interface Comparison {
  original: vscode.Uri;
  modified: vscode.Uri;
}

/** What a tab for comparisons of several files compares; nothing of another tab. VS Code tells of it, and has no name for it in its stable API. */
export function comparedIn(input: unknown): readonly Comparison[] | undefined {
  const isOne =
    typeof input === "object" && input !== null && "textDiffs" in input && Array.isArray(input.textDiffs);
  return isOne ? (input as { textDiffs: Comparison[] }).textDiffs : undefined;
}

/** The documents that a tab shows, on either side. */
function urisOf({ input }: vscode.Tab): vscode.Uri[] {
  if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom) {
    return [input.uri];
  }
  const comparisons = input instanceof vscode.TabInputTextDiff ? [input] : (comparedIn(input) ?? []);
  return comparisons.flatMap(({ original, modified }) => [original, modified]);
}

function hasTab(uri: vscode.Uri): boolean {
  const key = uri.toString();
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.some((tab) => urisOf(tab).some((shown) => shown.toString() === key));
}
