/** Badges on files in the explorer and in tabs: how many hunks are to be decided. */
import * as vscode from "vscode";
import type { Review } from "../review/model";
import { tallyInWords, tallyOf } from "../review/wording";

export class Badges implements vscode.FileDecorationProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly disposables: vscode.Disposable[];
  /** What was shown last, by document: most lists change nothing of it. */
  private readonly shown = new Map<string, string>();
  readonly onDidChangeFileDecorations = this.changed.event;

  constructor(private readonly review: Review) {
    this.disposables = [
      this.changed,
      vscode.window.registerFileDecorationProvider(this),
      review.follow(({ key }) => this.update(key)),
    ];
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private update(key: string): void {
    const uri = vscode.Uri.parse(key);
    const now = this.provideFileDecoration(uri)?.tooltip ?? "";
    if (this.shown.get(key) !== now) {
      this.shown.set(key, now);
      this.changed.fire(uri);
    }
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const document = this.review.of(uri.toString());
    if (!document) {
      return undefined;
    }
    const tally = tallyOf([document]);
    const conflicted = tally.conflicted > 0;
    const badge = conflicted ? "!" : tally.hunks > 9 ? "9+" : String(tally.hunks);
    const color = conflicted ? "hashline.conflictedForeground" : "hashline.pendingForeground";
    const who = tally.agents.join(", ");
    const decoration = new vscode.FileDecoration(
      badge,
      `${tallyInWords(tally)} (${who})`,
      new vscode.ThemeColor(color),
    );
    decoration.propagate = true;
    return decoration;
  }
}
