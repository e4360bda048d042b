/** The history of the file in front: all that agents did to it, decided or not. It is asked for only while somebody looks at it. */
import * as vscode from "vscode";
import { reasonOf } from "../failure";
import { historyTreeOf } from "../review/historyTree";
import { type Entry, entriesOf } from "../review/hunks";
import type { Review, ReviewDocument } from "../review/model";
import { type Node, shownOf } from "../review/tree";
import type { Sidecar } from "../sidecar";
import { keyOf } from "./compareAddresses";
import { nameOf } from "./fileNames";
import { itemOf } from "./treeItem";

export const VIEW = "hashline.history";
/** So many edits are shown with their hunks; older ones begin folded. */
const MOST_UNFOLDED = 10;
/** While somebody types it is asked for so often at most: it has all that was ever done to the file. */
const PAUSE_MS = 300;
const METHOD_NOT_FOUND = -32_601;

const NOTHING = "No agent has edited this file, as far as the history goes back.";
const NO_FILE = "Open a file to see what agents did to it.";
const OLDER = "This sidecar is older than the extension and has no history to show: update hashline.";

export class FileHistory implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[];
  /** The file in front. */
  private uri: vscode.Uri | undefined;
  private roots: Node[] = [];
  private folded = new Set<Node>();
  /** What VS Code shows; none while it is to ask for it. */
  private shown: string | undefined;
  private isAsking = false;
  /** Something has changed since it was asked for. */
  private isDue = false;
  private timer: NodeJS.Timeout | undefined;
  private askedAt = 0;
  private isDisposed = false;
  readonly view: vscode.TreeView<Node>;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    review: Pick<Review, "follow">,
    private readonly sidecar: Pick<Sidecar, "history" | "state" | "onDidChangeState">,
  ) {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.view.message = NO_FILE;
    this.disposables = [
      this.changed,
      this.view,
      vscode.window.onDidChangeActiveTextEditor((editor) => this.show(editor)),
      this.view.onDidChangeVisibility(() => this.isDue && this.ask()),
      sidecar.onDidChangeState(() => this.ask()),
      // A list comes after the next change, also where nothing is left to decide.
      review.follow(({ key }) => this.uri && key === keyOf(this.uri) && this.ask()),
    ];
    this.show(vscode.window.activeTextEditor);
  }

  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.timer);
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  getChildren(node?: Node): Node[] {
    if (!node) {
      this.shown = shownOf(this.roots);
    }
    return [...(node?.children ?? this.roots)];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const { None, Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    return itemOf(node, node.kind === "hunk" ? None : this.folded.has(node) ? Collapsed : Expanded);
  }

  /** A hunk of the history, by its name: no list has one that was decided. */
  find(name: string): { document: ReviewDocument; entry: Entry } | undefined {
    for (const { document, entries } of this.roots) {
      const entry = entries.find((candidate) => candidate.name === name);
      if (document && entry) {
        return { document, entry };
      }
    }
    return undefined;
  }

  /** What is in front: a panel or a list there changes nothing. */
  private show(editor: vscode.TextEditor | undefined): void {
    const uri = editor?.document.uri;
    if (uri?.scheme !== "file" || uri.toString() === this.uri?.toString()) {
      return;
    }
    this.uri = uri;
    this.view.description = nameOf(uri);
    this.become([], "");
    this.askedAt = 0;
    this.ask();
  }

  private ask(): void {
    this.isDue = true;
    if (!this.timer && !this.isAsking && this.isWanted()) {
      this.timer = setTimeout(() => void this.askNow(), Math.max(this.askedAt + PAUSE_MS - Date.now(), 0));
    }
  }

  private isWanted(): boolean {
    return this.uri !== undefined && this.view.visible && this.sidecar.state.kind === "running";
  }

  private async askNow(): Promise<void> {
    this.timer = undefined;
    const { uri } = this;
    if (!uri || !this.isWanted()) {
      return;
    }
    this.isDue = false;
    this.isAsking = true;
    this.askedAt = Date.now();
    const [roots, message] = await this.historyOf(uri);
    this.isAsking = false;
    if (this.isDisposed) {
      return;
    }
    if (this.sidecar.state.kind !== "running") {
      this.isDue = true; // what is shown stays until there is another sidecar
    } else if (uri.toString() === this.uri?.toString()) {
      this.become(roots, message);
    }
    if (this.isDue) {
      this.ask();
    }
  }

  /** The history of a file, and what is to be said of it. */
  private async historyOf(uri: vscode.Uri): Promise<[Node[], string]> {
    try {
      const { version, owner, readOnly, edits } = await this.sidecar.history(uri.toString());
      const entries = entriesOf(edits);
      const document = { uri: uri.toString(), key: keyOf(uri), version, owner, readOnly, edits, entries };
      return [historyTreeOf(document, new Date()), edits.length === 0 ? NOTHING : ""];
    } catch (error) {
      const isOlder = error instanceof Error && "code" in error && error.code === METHOD_NOT_FOUND;
      return [[], isOlder ? OLDER : `No history: ${reasonOf(error)}.`];
    }
  }

  /** While VS Code asks for rows again, what is pressed in those that are still drawn is lost: so it is told only where others come. */
  private become(roots: Node[], message: string): void {
    this.view.message = message;
    const isShown = this.shown !== undefined && this.shown === shownOf(roots);
    this.roots = roots;
    this.folded = new Set(roots.slice(MOST_UNFOLDED));
    if (!isShown) {
      this.shown = undefined;
      this.changed.fire();
    }
  }
}
