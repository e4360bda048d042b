/**
 * What files are called: by their paths in the workspace, and what one with another name was called before.
 *
 * The lists of the sidecar do not say that of a file that has its new name already. The history does, a moment later.
 */
import * as vscode from "vscode";
import { type History, renamedBy } from "../history";
import { fileChangeOf } from "../review/fileChange";
import { isInText } from "../review/hunks";
import type { Review, ReviewDocument } from "../review/model";
import type { Names } from "../review/tree";

export class FileNames implements Names, vscode.Disposable {
  private readonly learned = new vscode.EventEmitter<void>();
  private readonly subscription: { dispose(): void };
  /** By the ids of edits; none where it is not known yet. */
  private readonly before = new Map<string, string | undefined>();
  readonly onDidLearn = this.learned.event;

  constructor(
    review: Review,
    private readonly history: Pick<History, "patchOf">,
    private readonly failed: (error: unknown) => void,
  ) {
    this.subscription = review.subscribe((document) => this.ask(document));
  }

  dispose(): void {
    this.subscription.dispose();
    this.learned.dispose();
  }

  ofUri(uri: string): string {
    return nameOf(vscode.Uri.parse(uri));
  }

  ofPath(path: string): string {
    return vscode.workspace.asRelativePath(path);
  }

  beforeEdit(edit: string): string | undefined {
    return this.before.get(edit);
  }

  private ask({ uri, entries }: ReviewDocument): void {
    for (const { edit, hunk } of entries) {
      if (fileChangeOf(hunk)?.kind === "rename" && isInText(hunk) && !this.before.has(edit.id)) {
        this.before.set(edit.id, undefined);
        this.learn(uri, edit.id).catch(this.failed);
      }
    }
  }

  private async learn(uri: string, edit: string): Promise<void> {
    const name = renamedBy(await this.history.patchOf(vscode.Uri.parse(uri), edit));
    if (name !== undefined) {
      this.before.set(edit, name);
      this.learned.fire();
    }
  }
}

/** What to call a file: its path in the workspace. */
export function nameOf(uri: vscode.Uri): string {
  return vscode.workspace.asRelativePath(uri);
}
