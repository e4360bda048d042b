/**
 * Which documents the sidecar hears of: those that the person has in a tab.
 *
 * VS Code opens documents for extensions, searches and peeks, too. An edit would make such a document dirty, and VS Code opens an
 * editor for each dirty document: something would open because an agent did something. Without a tab a file is its text on the disk.
 */
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

type Send = (document: vscode.TextDocument) => Promise<void>;

export class OpenDocuments implements vscode.Disposable {
  /** Documents without a tab, and how they are opened for the sidecar. */
  private readonly waiting = new Map<string, { document: vscode.TextDocument; open: Send }>();
  private readonly told = new Set<string>();
  private readonly listener: vscode.Disposable;
  private readonly opened = new vscode.EventEmitter<vscode.TextDocument>();
  private readonly closed = new vscode.EventEmitter<vscode.TextDocument>();

  /** A document is about to be opened for the sidecar. */
  readonly onOpened = this.opened.event;
  readonly onClosed = this.closed.event;

  constructor(private readonly failed: (error: unknown) => void) {
    this.listener = vscode.window.tabGroups.onDidChangeTabs(() => this.openThoseWithTabs());
  }

  dispose(): void {
    this.listener.dispose();
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
      this.waiting.delete(document.uri.toString());
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
    this.told.add(document.uri.toString());
    this.opened.fire(document);
    await next(document);
  }

  private openThoseWithTabs(): void {
    for (const [key, { document, open }] of this.waiting) {
      if (hasTab(document.uri)) {
        this.waiting.delete(key);
        this.open(document, open).catch(this.failed);
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
