/** What menus and keys go by. */
import * as vscode from "vscode";
import type { Decisions } from "../decisions";
import type { Navigation } from "../navigation";
import type { Review } from "../review/model";
import { verbsFor } from "../review/wording";
import type { Sidecar } from "../sidecar";
import { documentUri } from "./compare";

type Value = string | boolean;

export class ContextKeys implements vscode.Disposable {
  private readonly disposables: { dispose(): void }[];
  private readonly set = new Map<string, Value>();

  constructor(
    private readonly review: Review,
    private readonly navigation: Navigation,
    private readonly decisions: Decisions,
    private readonly sidecar: Sidecar,
  ) {
    const update = () => this.update();
    this.disposables = [
      review.subscribe(update),
      decisions.onDidChange(update),
      sidecar.onDidChangeState(update),
      vscode.window.onDidChangeActiveTextEditor(update),
      vscode.window.onDidChangeTextEditorSelection(update),
    ];
    update();
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private update(): void {
    const all = this.review.all();
    this.put("hashline.running", this.sidecar.state.kind === "running");
    this.put("hashline.canTakeBack", this.decisions.canTakeBack);
    this.put("hashline.all", verbs(all.flatMap(({ readOnly, entries }) => (readOnly ? [] : entries))));
    const editor = vscode.window.activeTextEditor;
    const document = editor && this.review.of(documentUri(editor.document.uri).toString());
    this.put("hashline.file", document && !document.readOnly ? verbs(document.entries) : "");
    this.put("hashline.hunkAtCursor", this.atCursor());
  }

  /** How the hunk at the cursor stands; empty where there is none to decide about. */
  private atCursor(): string {
    const meant = this.navigation.meant();
    if (!meant || meant.document.readOnly || meant.entry.hunk.deciding) {
      return "";
    }
    const { hunk } = meant.entry;
    return hunk.state === "conflicted" ? "conflicted" : verbsFor([hunk]);
  }

  private put(key: string, value: Value): void {
    if (this.set.get(key) !== value) {
      this.set.set(key, value);
      void vscode.commands.executeCommand("setContext", key, value);
    }
  }
}

function verbs(entries: readonly { hunk: Parameters<typeof verbsFor>[0][number] }[]): string {
  return entries.length > 0 ? verbsFor(entries.map(({ hunk }) => hunk)) : "";
}
