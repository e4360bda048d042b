/** What can be decided, above each hunk. */
import * as vscode from "vscode";
import { config } from "../config";
import { rowOf } from "../review/hunks";
import type { Review, ReviewDocument } from "../review/model";
import { conflictOf, headingOf, waysFor } from "../review/wording";

export class Lenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[];
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly review: Review) {
    this.disposables = [
      this.changed,
      vscode.languages.registerCodeLensProvider([{ scheme: "file" }, { scheme: "untitled" }], this),
      review.subscribe(() => this.changed.fire()),
    ];
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  provideCodeLenses({ uri, lineCount }: vscode.TextDocument): vscode.CodeLens[] {
    const document = this.review.of(uri.toString());
    return document && config.lenses(uri) ? lensesOf(document, lineCount) : [];
  }
}

function lensesOf(document: ReviewDocument, lineCount: number): vscode.CodeLens[] {
  return document.entries.flatMap((entry) => {
    const row = rowOf(entry.lines ?? { start: 0, end: 0 }, lineCount);
    const range = new vscode.Range(row, 0, row, 0);
    const lens = (title: string, command: string, ...more: unknown[]) =>
      new vscode.CodeLens(range, { title, command, arguments: [entry.name, ...more] });
    const heading = lens(headingOf(entry), "hashline.revealInTree");
    if (document.readOnly) {
      return [heading, lens(`decided in ${document.owner ?? "another editor"}`, "")];
    }
    const ways = waysFor(entry.hunk).map((way) => lens(way.word, "hashline.decideWay", way));
    if (entry.hunk.state === "conflicted") {
      // Last, as it is long: what can be done is to be in view.
      return [heading, ...ways, lens(conflictOf(entry.hunk), "")];
    }
    const compare = entry.hunk.file === null ? [lens("Compare", "hashline.compare")] : [];
    return [heading, ...ways, ...compare];
  });
}
