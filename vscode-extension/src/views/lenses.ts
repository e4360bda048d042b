/** What can be decided, above each hunk. */
import * as vscode from "vscode";
import { config } from "../config";
import { rowOf } from "../review/hunks";
import type { Review, ReviewDocument } from "../review/model";
import { isFarBeside } from "../review/plan";
import { conflictOf, elsewhereInWords, gistOf, headingOf, waysFor } from "../review/wording";

/** The lenses of a document, and what they were made of. */
interface Made {
  document: ReviewDocument | undefined;
  version: number;
  isWanted: boolean;
  lenses: vscode.CodeLens[];
}

/** How long lists of one document are waited for, for each of its hunks: VS Code asks for all lenses again. */
const HUNK_MS = 1;
const LONGEST_MS = 250;

export class Lenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[];
  /** VS Code asks for those that were just compared. */
  private readonly made = new WeakMap<vscode.TextDocument, Made>();
  /** What was shown last, by document. */
  private readonly shown = new Map<string, string>();
  /** Documents whose lists have come since. */
  private readonly waiting = new Map<string, NodeJS.Timeout>();
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly review: Review) {
    this.disposables = [
      this.changed,
      vscode.languages.registerCodeLensProvider([{ scheme: "file" }, { scheme: "untitled" }], this),
      review.subscribe(({ key }) => this.updateSoon(key)),
    ];
  }

  dispose(): void {
    this.waiting.forEach(clearTimeout);
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  provideCodeLenses(shown: vscode.TextDocument): vscode.CodeLens[] {
    const document = this.review.of(shown.uri.toString());
    const { version } = shown;
    const isWanted = document !== undefined && config.lenses(shown.uri);
    const known = this.made.get(shown);
    if (known?.document === document && known?.version === version && known.isWanted === isWanted) {
      return known.lenses;
    }
    const lenses = isWanted ? lensesOf(document, shown) : [];
    this.made.set(shown, { document, version, isWanted, lenses });
    this.shown.set(shown.uri.toString(), allSeenOf(lenses));
    return lenses;
  }

  /** In a turn of its own: of hundreds of hunks a list is work enough for all others that it comes to. */
  private updateSoon(key: string): void {
    const hunks = this.review.of(key)?.entries.length ?? 0;
    if (hunks === 0) {
      clearTimeout(this.waiting.get(key));
      this.update(key);
    } else if (!this.waiting.has(key)) {
      const pause = Math.min(HUNK_MS * hunks, LONGEST_MS);
      this.waiting.set(
        key,
        setTimeout(() => this.review.inTurn(() => this.update(key)), pause),
      );
    }
  }

  /** Most lists change nothing of what stands above hunks, as VS Code moves it with the typing. */
  private update(key: string): void {
    this.waiting.delete(key);
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === key);
    if (!document) {
      this.shown.delete(key);
      return;
    }
    const before = this.shown.get(key) ?? NONE;
    if (allSeenOf(this.provideCodeLenses(document)) !== before) {
      this.changed.fire();
    }
  }
}

/** All that is seen of lenses. What one does follows from its title and its hunk. */
function allSeenOf(lenses: readonly vscode.CodeLens[]): string {
  return lenses
    .map(({ range, command }) => `${range.start.line} ${command?.arguments?.[0]} ${command?.title}`)
    .join("\n");
}

const NONE = allSeenOf([]);

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
    const heading = lens(headingOf(entry, document.entries.length) + gist, "hashline.revealInTree");
    if (document.readOnly) {
      return [heading, ...elsewhereInWords(document).map((said) => lens(said, ""))];
    }
    const ways = waysFor(entry.hunk).map((way) => lens(way.word, "hashline.decideWay", way));
    if (entry.hunk.state === "conflicted") {
      // What stands against it is a sentence, which would be cut at the edge of the editor.
      const why = new vscode.CodeLens(range, {
        title: "Why?",
        tooltip: conflictOf(entry.hunk),
        command: "hashline.resolveConflict",
        arguments: [entry.name],
      });
      return [heading, ...ways, why];
    }
    const compare = entry.hunk.file === null ? [lens("Compare", "hashline.compare")] : [];
    return [heading, ...ways, ...compare];
  });
}
