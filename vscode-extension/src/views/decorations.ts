/** Draws the hunks in place, in the editors and lines that are in view. */
import * as vscode from "vscode";
import { config } from "../config";
import type { Lines } from "../protocol";
import { type Entry, isInText, rowOf } from "../review/hunks";
import type { Review, ReviewDocument } from "../review/model";
import { type Ghost, type LineKind, type Plan, planFor } from "../review/plan";

/** Scrolling asks for it many times a second. */
const SCROLL_MS = 40;
/** Lines drawn above and below those that are in view, so that a small step shows them at once. */
const MARGIN = 20;

const color = (id: string) => new vscode.ThemeColor(id);

type Mark = Plan["marks"][number]["kind"];

/** The ways in which lines can look. */
class Styles implements vscode.Disposable {
  readonly bands: Record<LineKind, vscode.TextEditorDecorationType>;
  /** For lines with something beside them: two colours on one another would be neither. */
  readonly texts: Record<LineKind, vscode.TextEditorDecorationType>;
  readonly words: Record<LineKind, vscode.TextEditorDecorationType>;
  readonly marks: Record<Mark, vscode.TextEditorDecorationType>;
  readonly ruler: Record<LineKind, vscode.TextEditorDecorationType>;
  readonly ghosts: vscode.TextEditorDecorationType;
  readonly above: vscode.TextEditorDecorationType;
  readonly below: vscode.TextEditorDecorationType;

  constructor(extension: vscode.Uri) {
    const make = vscode.window.createTextEditorDecorationType;
    // Themes of high contrast have no backgrounds for it: they draw borders.
    const backgrounds = (isWholeLine: boolean) => {
      const band = (id: string, border: string) =>
        make({
          isWholeLine,
          backgroundColor: color(id),
          outlineWidth: "1px",
          outlineStyle: "solid",
          outlineColor: color(border),
        });
      return {
        removed: band("diffEditor.removedLineBackground", "hashline.removedBorder"),
        proposed: band("diffEditor.insertedLineBackground", "hashline.proposedBorder"),
        conflicted: band("hashline.conflictedLineBackground", "hashline.conflictedBorder"),
      };
    };
    this.bands = backgrounds(true);
    this.texts = backgrounds(false);
    const word = (id: string) => make({ backgroundColor: color(id) });
    this.words = {
      removed: word("diffEditor.removedTextBackground"),
      proposed: word("diffEditor.insertedTextBackground"),
      conflicted: word("hashline.conflictedLineBackground"),
    };
    // Shapes, for those who do not tell the colours apart.
    const mark = (name: string) =>
      make({
        gutterIconPath: vscode.Uri.joinPath(extension, "media", `${name}.svg`),
        gutterIconSize: "contain",
      });
    this.marks = {
      removed: mark("mark-removed"),
      proposed: mark("mark-proposed"),
      conflicted: mark("mark-conflicted"),
      place: mark("mark-place"),
    };
    const ruler = (id: string) =>
      make({ overviewRulerColor: color(id), overviewRulerLane: vscode.OverviewRulerLane.Left });
    this.ruler = {
      removed: ruler("diffEditorOverview.removedForeground"),
      proposed: ruler("diffEditorOverview.insertedForeground"),
      conflicted: ruler("hashline.conflictedForeground"),
    };
    this.ghosts = make({ rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen });
    const edge = (borderWidth: string) =>
      make({
        isWholeLine: true,
        borderStyle: "solid",
        borderWidth,
        borderColor: color("hashline.placeBorder"),
      });
    this.above = edge("2px 0 0 0");
    this.below = edge("0 0 2px 0");
  }

  all(): vscode.TextEditorDecorationType[] {
    const { bands, texts, words, marks, ruler } = this;
    const records = [bands, texts, words, marks, ruler].flatMap((record) => Object.values(record));
    return [...records, this.ghosts, this.above, this.below];
  }

  dispose(): void {
    for (const style of this.all()) {
      style.dispose();
    }
  }
}

interface Shown {
  /** The hunks that are drawn. */
  entries: readonly Entry[];
  /** Those of the text. */
  all: readonly Entry[];
  isPlain: boolean;
}

export class Decorations implements vscode.Disposable {
  private readonly styles: Styles;
  private readonly disposables: vscode.Disposable[] = [];
  private readonly drawn = new WeakMap<vscode.TextEditor, Plan>();
  /** The hunks whose marks a ruler has: VS Code moves these with the typing. */
  private readonly ruled = new WeakMap<vscode.TextEditor, Shown>();
  private readonly scrolled = new Set<vscode.TextEditor>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    extension: vscode.Uri,
    private readonly review: Review,
  ) {
    this.styles = new Styles(extension);
    this.disposables.push(
      this.styles,
      review.subscribe((document) => this.updateDocument(document)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.updateAll()),
      vscode.window.tabGroups.onDidChangeTabs(() => this.updateAll()),
      vscode.window.onDidChangeTextEditorOptions(({ textEditor }) => this.update(textEditor)),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.updateSoon(textEditor)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("hashline.inline")) {
          this.updateAll();
        }
      }),
    );
    this.updateAll();
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  /** What is drawn in an editor: decorations cannot be asked for it. */
  planOf(editor: vscode.TextEditor): Plan | undefined {
    return this.drawn.get(editor);
  }

  private updateAll(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      this.update(editor);
    }
  }

  private updateDocument(document: ReviewDocument): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.toString() === document.key) {
        this.update(editor);
      }
    }
  }

  private updateSoon(editor: vscode.TextEditor): void {
    this.scrolled.add(editor);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const editors = [...this.scrolled];
      this.scrolled.clear();
      for (const one of editors) {
        this.update(one);
      }
    }, SCROLL_MS);
  }

  private update(editor: vscode.TextEditor): void {
    const { document } = editor;
    const shown = this.shownIn(editor);
    const { entries } = shown;
    if (entries.length === 0) {
      if (this.drawn.delete(editor)) {
        this.ruled.delete(editor);
        for (const style of this.styles.all()) {
          editor.setDecorations(style, []);
        }
      }
      return;
    }
    const tabSize = typeof editor.options.tabSize === "number" ? editor.options.tabSize : 4;
    const { lineCount } = document;
    const text = {
      lineCount,
      tabSize,
      line: (row: number) => (row < lineCount ? document.lineAt(row).text : ""),
    };
    const visible = editor.visibleRanges.map(({ start, end }): Lines => {
      return { start: start.line - MARGIN, end: end.line + MARGIN };
    });
    const plan = planFor(entries, text, visible);
    this.drawn.set(editor, plan);
    this.draw(editor, plan, text.line);
    if (!this.isRuled(editor, shown)) {
      // All hunks of a text are more work than those in view, and less urgent.
      this.review.inTurn(() => this.updateRuler(editor));
    }
  }

  private shownIn(editor: vscode.TextEditor): Shown {
    const { uri } = editor.document;
    const all = this.review.of(uri.toString())?.entries ?? [];
    if (all.length === 0 || !config.inline(uri)) {
      return { entries: [], all, isPlain: true };
    }
    // A comparison shows both texts already, but nothing of a conflict.
    return isPlain(editor)
      ? { entries: all, all, isPlain: true }
      : { entries: all.filter(({ hunk }) => hunk.state === "conflicted"), all, isPlain: false };
  }

  private isRuled(editor: vscode.TextEditor, { all, isPlain }: Shown): boolean {
    const ruled = this.ruled.get(editor);
    return ruled !== undefined && ruled.all === all && ruled.isPlain === isPlain;
  }

  private updateRuler(editor: vscode.TextEditor): void {
    const shown = this.shownIn(editor);
    const isSeen = vscode.window.visibleTextEditors.includes(editor);
    if (isSeen && shown.entries.length > 0 && !this.isRuled(editor, shown)) {
      this.ruled.set(editor, shown);
      this.drawRuler(editor, shown.entries);
    }
  }

  private draw(editor: vscode.TextEditor, plan: Plan, line: (row: number) => string): void {
    const { bands, texts, words, marks, ghosts, above, below } = this.styles;
    const whole = (start: number, end: number) => new vscode.Range(start, 0, end, 0);
    for (const kind of Object.keys(bands) as LineKind[]) {
      const of = plan.bands.filter((band) => band.kind === kind);
      editor.setDecorations(
        bands[kind],
        of.filter((band) => band.whole).map(({ start, end }) => whole(start, Math.max(start, end - 1))),
      );
      const beside = of.filter((band) => !band.whole).flatMap(rowsOf);
      editor.setDecorations(
        texts[kind],
        beside.map((row) => new vscode.Range(row, 0, row, line(row).length)),
      );
      const changed = plan.changed.filter((word) => word.kind === kind);
      editor.setDecorations(
        words[kind],
        changed.map(({ row, span: [from, to] }) => new vscode.Range(row, from, row, to)),
      );
    }
    for (const kind of Object.keys(marks) as Mark[]) {
      const of = plan.marks.filter((mark) => mark.kind === kind);
      editor.setDecorations(
        marks[kind],
        of.map(({ row }) => whole(row, row)),
      );
    }
    editor.setDecorations(
      ghosts,
      plan.ghosts.map((ghost) => ghostOption(ghost, line(ghost.row).length)),
    );
    const edges = (edge: "above" | "below") => plan.places.filter((place) => place.edge === edge);
    editor.setDecorations(
      above,
      edges("above").map(({ row }) => whole(row, row)),
    );
    editor.setDecorations(
      below,
      edges("below").map(({ row }) => whole(row, row)),
    );
  }

  /** The ruler shows all hunks of the text, as its other marks do. */
  private drawRuler(editor: vscode.TextEditor, entries: readonly Entry[]): void {
    const ranges: Record<LineKind, vscode.Range[]> = { removed: [], proposed: [], conflicted: [] };
    for (const { hunk, lines } of entries) {
      if (lines) {
        const kind: LineKind =
          hunk.state === "conflicted"
            ? "conflicted"
            : isInText(hunk) || lines.start === lines.end
              ? "proposed"
              : "removed";
        const row = rowOf(lines, editor.document.lineCount);
        ranges[kind].push(new vscode.Range(row, 0, Math.max(row, lines.end - 1), 0));
      }
    }
    for (const kind of Object.keys(ranges) as LineKind[]) {
      editor.setDecorations(this.styles.ruler[kind], ranges[kind]);
    }
  }
}

function rowsOf({ start, end }: Lines): number[] {
  return Array.from({ length: end - start }, (_, index) => start + index);
}

interface Look {
  /** For those who do not tell the colours apart. */
  sign: string;
  foreground: string;
  background?: string;
  border?: string;
}

const LOOKS: Record<Ghost["kind"], Look> = {
  proposed: {
    sign: "+\u00a0",
    foreground: "hashline.besideForeground",
    background: "diffEditor.insertedTextBackground",
    border: "hashline.proposedBorder",
  },
  removed: {
    sign: "−\u00a0",
    foreground: "hashline.besideForeground",
    background: "diffEditor.removedTextBackground",
    border: "hashline.removedBorder",
  },
  more: { sign: "\u00a0\u00a0", foreground: "descriptionForeground" },
};

function ghostOption({ row, text, gap, kind }: Ghost, length: number): vscode.DecorationOptions {
  const { sign, foreground, background, border } = LOOKS[kind];
  return {
    range: new vscode.Range(row, length, row, length),
    renderOptions: {
      after: {
        contentText: sign + text,
        color: color(foreground),
        margin: `0 0 0 ${gap}ch`,
        fontStyle: "normal",
        ...(background === undefined ? {} : { backgroundColor: color(background) }),
        ...(border === undefined ? {} : { border: "1px solid", borderColor: color(border) }),
      },
    },
  };
}

/** Not one side of a comparison. */
function isPlain(editor: vscode.TextEditor): boolean {
  const group = vscode.window.tabGroups.all.find(({ viewColumn }) => viewColumn === editor.viewColumn);
  const input = group?.activeTab?.input;
  return input instanceof vscode.TabInputText && input.uri.toString() === editor.document.uri.toString();
}
