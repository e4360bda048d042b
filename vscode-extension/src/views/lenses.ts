/** What can be decided, above each hunk. */
import * as vscode from "vscode";
import { config } from "../config";
import { rowOf } from "../review/hunks";
import type { Review, ReviewDocument } from "../review/model";
import { isFarBeside } from "../review/plan";
import { conflictOf, gistOf, headingOf, waysFor } from "../review/wording";

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

  provideCodeLenses(shown: vscode.TextDocument): vscode.CodeLens[] {
    const document = this.review.of(shown.uri.toString());
    return document && config.lenses(shown.uri) ? lensesOf(document, shown) : [];
  }
}

/** Editors may show tabs otherwise; this is near enough to say what is far. */
const TAB_SIZE = 4;

function lensesOf(document: ReviewDocument, shown: vscode.TextDocument): vscode.CodeLens[] {
  const { lineCount } = shown;
  const line = (row: number) => (row < lineCount ? shown.lineAt(row).text : "");
  const text = { lineCount, tabSize: TAB_SIZE, line };
  return document.entries.flatMap((entry) => {
    const row = rowOf(entry.lines ?? { start: 0, end: 0 }, lineCount);
    const range = new vscode.Range(row, 0, row, 0);
    const lens = (title: string, command: string, ...more: unknown[]) =>
      new vscode.CodeLens(range, { title, command, arguments: [entry.name, ...more] });
    const gist = isFarBeside(entry, text) ? ` · ${gistOf(entry.hunk)}` : "";
    const heading = lens(headingOf(entry) + gist, "hashline.revealInTree");
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
