/** The tree of what is to be decided. */
import * as vscode from "vscode";
import type { Review } from "../review/model";
import { type Node, shownOf, treeOf } from "../review/tree";
import { tallyInWords, tallyOf } from "../review/wording";
import type { FileNames } from "./fileNames";
import { itemOf } from "./treeItem";

export const VIEW = "hashline.review";
/** With more hunks files begin folded. */
const MOST_UNFOLDED = 40;
/** Lists of many documents come one after the other, and while somebody types with each key. */
const TOGETHER_MS = 60;
/** The same for each hunk: VS Code asks for all of the tree again. */
const HUNK_MS = 1;

export class ReviewTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[];
  private roots: Node[] = [];
  private parents = new Map<string, Node>();
  private byHunk = new Map<string, Node>();
  /** Nothing has changed since it was built. */
  private isBuilt = false;
  private timer: NodeJS.Timeout | undefined;
  /** What VS Code shows; none while it is to ask for it. */
  private shown: string | undefined;
  readonly view: vscode.TreeView<Node>;
  readonly onDidChangeTreeData = this.changed.event;

  private only: string | undefined;

  constructor(
    private readonly review: Review,
    private readonly names: FileNames,
  ) {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.disposables = [
      this.changed,
      this.view,
      review.subscribe(() => this.changedBelow()),
      names.onDidLearn(() => this.changedBelow()),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  /** The agent whose hunks alone are shown; none while all are. */
  get onlyAgent(): string | undefined {
    return this.only;
  }

  /** Shows the hunks of one agent alone, or of all again. */
  showOnly(agent: string | undefined): void {
    this.only = agent;
    this.isBuilt = false;
    this.update();
  }

  getChildren(node?: Node): Node[] {
    if (node) {
      return [...node.children];
    }
    this.build();
    this.shown = shownOf(this.roots);
    return [...this.roots];
  }

  getParent(node: Node): Node | undefined {
    return this.parents.get(node.id);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return itemOf(node, this.foldOf(node));
  }

  /** Shows the row of a hunk, by its name. */
  async reveal(name: string): Promise<void> {
    // It may be newer than what is drawn.
    this.update();
    this.build();
    const node = this.byHunk.get(name);
    if (node) {
      await this.view.reveal(node, { select: true, focus: false, expand: true });
    }
  }

  private changedBelow(): void {
    this.isBuilt = false;
    const { hunks } = tallyOf(this.review.all());
    this.timer ??= setTimeout(() => this.review.inTurn(() => this.update()), TOGETHER_MS + HUNK_MS * hunks);
  }

  private update(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const tally = tallyOf(this.review.all());
    if (this.only !== undefined && !tally.agents.includes(this.only)) {
      this.only = undefined; // nothing of that one is left
      this.isBuilt = false;
    }
    this.view.description = this.only === undefined ? "" : `only ${this.only}`;
    this.view.badge = tally.hunks > 0 ? { value: tally.hunks, tooltip: tallyInWords(tally) } : undefined;
    // While VS Code asks for all of it again, what is pressed in the rows that are still drawn is lost: so it is told no oftener than it asks.
    // Nor is anything built for it until then: where the tree is not open it never asks.
    if (this.shown === undefined) {
      return;
    }
    this.build();
    if (this.shown !== shownOf(this.roots)) {
      this.shown = undefined;
      this.changed.fire();
    }
  }

  private build(): void {
    if (this.isBuilt) {
      return;
    }
    this.isBuilt = true;
    this.roots = treeOf(this.review.all(), this.names, this.only);
    this.parents = new Map();
    this.byHunk = new Map();
    const enter = (node: Node): void => {
      if (node.entry) {
        this.byHunk.set(node.entry.name, node);
      }
      for (const child of node.children) {
        this.parents.set(child.id, node);
        enter(child);
      }
    };
    this.roots.forEach(enter);
  }

  private foldOf(node: Node): vscode.TreeItemCollapsibleState {
    if (node.kind === "hunk") {
      return vscode.TreeItemCollapsibleState.None;
    }
    const total = this.roots.reduce((sum, root) => sum + root.entries.length, 0);
    return node.kind === "file" && total > MOST_UNFOLDED
      ? vscode.TreeItemCollapsibleState.Collapsed
      : vscode.TreeItemCollapsibleState.Expanded;
  }
}
