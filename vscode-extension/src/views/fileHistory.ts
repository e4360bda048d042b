/** The history of the file in front: all that agents did to it, decided or not. It is asked for only while somebody looks at it. */
import * as vscode from "vscode";
import { entriesOf } from "../review/hunks";
import type { Review, ReviewDocument } from "../review/model";
import { pastOf } from "../review/past";
import type { Node } from "../review/tree";
import type { Sidecar } from "../sidecar";
import { keyOf } from "./compareAddresses";
import { nameOf } from "./fileNames";
import { itemOf } from "./treeItem";

export const VIEW = "hashline.history";
/** So many edits are shown with their hunks; older ones begin folded. */
const MOST_UNFOLDED = 10;
const METHOD_NOT_FOUND = -32_601;

export class FileHistory implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[];
  /** The file in front. */
  private uri: vscode.Uri | undefined;
  private roots: Node[] = [];
  private isAsking = false;
  /** Something has changed since it was asked for. */
  private isDue = false;
  readonly view: vscode.TreeView<Node>;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    review: Pick<Review, "follow">,
    private readonly sidecar: Pick<Sidecar, "history" | "state" | "onDidChangeState">,
    private readonly failed: (error: unknown) => void,
  ) {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.disposables = [
      this.changed,
      this.view,
      vscode.window.onDidChangeActiveTextEditor((editor) => this.show(editor)),
      this.view.onDidChangeVisibility(() => this.ask()),
      sidecar.onDidChangeState(() => this.ask()),
      // A list comes after each change, also where nothing is left to decide.
      review.follow(({ key }) => key === (this.uri && keyOf(this.uri)) && this.ask()),
    ];
    this.show(vscode.window.activeTextEditor);
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  getChildren(node?: Node): Node[] {
    return [...(node?.children ?? this.roots)];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const { None, Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    const isRecent = this.roots.indexOf(node) < MOST_UNFOLDED;
    return itemOf(node, node.kind === "hunk" ? None : isRecent ? Expanded : Collapsed);
  }

  /** A hunk that was decided, by its name: no list has it. */
  find(name: string): Required<Pick<Node, "document" | "entry">> | undefined {
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
    this.become([]);
    this.ask();
  }

  private ask(): void {
    this.isDue = true;
    if (!this.isAsking) {
      this.isAsking = true;
      this.bringUpToDate()
        .catch(this.failed)
        .finally(() => {
          this.isAsking = false;
        });
    }
  }

  private async bringUpToDate(): Promise<void> {
    while (this.isDue && this.uri && this.view.visible && this.sidecar.state.kind === "running") {
      this.isDue = false;
      const { uri } = this;
      const document = await this.documentOf(uri);
      if (uri.toString() === this.uri.toString()) {
        this.become(document ? pastOf(document, new Date()) : []);
      }
    }
  }

  /** The file with all edits; none if the sidecar does not serve it. */
  private async documentOf(uri: vscode.Uri): Promise<ReviewDocument | undefined> {
    try {
      const { version, readOnly, edits } = await this.sidecar.history(uri.toString());
      this.view.message = "";
      return {
        uri: uri.toString(),
        key: keyOf(uri),
        version,
        owner: null,
        readOnly,
        edits,
        entries: entriesOf(edits),
      };
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === METHOD_NOT_FOUND) {
        const older = "This sidecar is older than the extension and has no history to show";
        this.view.message = `${older}: update hashline.`;
      }
      return undefined;
    }
  }

  private become(roots: Node[]): void {
    this.roots = roots;
    this.changed.fire();
  }
}
