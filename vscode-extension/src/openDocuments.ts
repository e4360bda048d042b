/**
 * Which documents the sidecar hears of: those that the person has in a tab.
 *
 * VS Code opens documents for extensions, searches and peeks, too. An edit would make such a document dirty, and VS Code opens an
 * editor for each dirty document: something would open because an agent did something. Without a tab a file is its text on the disk.
 */
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

type Send = (document: vscode.TextDocument) => Promise<void>;

interface Known {
  document: vscode.TextDocument;
  /** Opens it for the sidecar. */
  open: Send;
}

export class OpenDocuments implements vscode.Disposable {
  /** Documents without a tab. */
  private readonly waiting = new Map<string, Known>();
  private readonly told = new Map<string, Known>();
  private readonly listeners: vscode.Disposable;
  private readonly opened = new vscode.EventEmitter<vscode.TextDocument>();
  private readonly closed = new vscode.EventEmitter<vscode.TextDocument>();

  /** A document is about to be opened for the sidecar. */
  readonly onOpened = this.opened.event;
  readonly onClosed = this.closed.event;

  /** @param close closes a document for the sidecar, by way of the middleware here */
  constructor(
    private readonly close: Send,
    private readonly failed: (error: unknown) => void,
  ) {
    this.listeners = vscode.Disposable.from(
      vscode.window.tabGroups.onDidChangeTabs(() => this.goByTabs()),
      vscode.workspace.onDidChangeTextDocument(({ contentChanges }) => {
        // Nothing but whether it is saved has changed.
        if (contentChanges.length === 0) {
          this.goByTabs();
        }
      }),
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

  readonly middleware: Pick<Middleware, "didOpen" | "didClose" | "didSave"> = {
    didOpen: async (document, next) => {
      if (hasTab(document.uri)) {
        await this.open(document, next);
      } else {
        this.waiting.set(document.uri.toString(), { document, open: next });
      }
    },
    didClose: async (document, next) => {
      if (document.isClosed) {
        this.waiting.delete(document.uri.toString());
      }
      if (this.told.delete(document.uri.toString())) {
        this.closed.fire(document);
        await next(document);
      }
    },
    didSave: async (document, next) => {
      if (this.has(document.uri)) {
        await next(document);
      }
    },
  };

  private async open(document: vscode.TextDocument, next: Send): Promise<void> {
    this.told.set(document.uri.toString(), { document, open: next });
    this.opened.fire(document);
    await next(document);
  }

  /** Opens those that have a tab now, and closes those that have none any more: VS Code keeps a document that another extension reads. */
  private goByTabs(): void {
    for (const [key, { document, open }] of [...this.waiting]) {
      if (hasTab(document.uri)) {
        this.waiting.delete(key);
        this.open(document, open).catch(this.failed);
      }
    }
    for (const [key, known] of [...this.told]) {
      // With unsaved work it is the person's text all the same, and VS Code is about to give it a tab.
      if (!known.document.isDirty && !hasTab(known.document.uri)) {
        this.waiting.set(key, known);
        this.close(known.document).catch(this.failed);
      }
    }
  }
}

/** The documents that a tab shows, on either side. */
function urisOf(tab: vscode.Tab): vscode.Uri[] {
  const { input } = tab;
  if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom) {
    return [input.uri];
  }
  return input instanceof vscode.TabInputTextDiff ? [input.original, input.modified] : [];
}

/** A comparison of several files does not say which they are: its documents count as shown. */
function showsSeveral(tab: vscode.Tab): boolean {
  return tab.isActive && tab.input === undefined;
}

export function hasTab(uri: vscode.Uri): boolean {
  const key = uri.toString();
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return (
    tabs.some((tab) => urisOf(tab).some((shown) => shown.toString() === key)) ||
    (tabs.some(showsSeveral) &&
      vscode.window.visibleTextEditors.some((editor) => editor.document.uri.toString() === key))
  );
}
