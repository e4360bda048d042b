/** What menus and keys go by. */
import * as vscode from "vscode";
import type { Decisions } from "../decisions";
import type { Navigation } from "../navigation";
import { type Entry, isPastTaking } from "../review/hunks";
import type { Review } from "../review/model";
import { verbsFor } from "../review/wording";
import type { Sidecar } from "../sidecar";
import { keyOf, PROPOSED } from "./compareAddresses";
import type { ReviewAll } from "./reviewAll";

type Value = string | boolean;

export class ContextKeys implements vscode.Disposable {
  private readonly disposables: { dispose(): void }[];
  private readonly set = new Map<string, Value>();
  /** Of each list of hunks: the cursor moves with each key, and the list does not change. */
  private readonly verbsOf = new WeakMap<readonly Entry[], string>();

  constructor(
    private readonly review: Review,
    private readonly navigation: Navigation,
    private readonly decisions: Decisions,
    private readonly reviewAll: Pick<ReviewAll, "isInFront">,
    private readonly sidecar: Sidecar,
  ) {
    const updateCursor = () => this.updateCursor();
    const update = () => {
      this.update();
      this.updateCursor();
    };
    this.disposables = [
      review.subscribe(update),
      decisions.onDidChange(update),
      sidecar.onDidChangeState(update),
      navigation.onDidGo(updateCursor),
      vscode.window.onDidChangeActiveTextEditor(updateCursor),
      vscode.window.tabGroups.onDidChangeTabs(updateCursor),
      vscode.window.tabGroups.onDidChangeTabGroups(updateCursor),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) {
          updateCursor();
        }
      }),
    ];
    update();
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private update(): void {
    const decidable = this.review.all().flatMap(({ readOnly, entries }) => (readOnly ? [] : entries));
    this.put("hashline.running", this.sidecar.state.kind === "running");
    this.put("hashline.starting", this.sidecar.state.kind === "starting");
    this.put("hashline.canReopen", this.decisions.canReopen);
    this.put("hashline.all", verbs(decidable));
  }

  /** With each movement of the cursor: nothing is looked at but the document and the tab in front. */
  private updateCursor(): void {
    const editor = vscode.window.activeTextEditor;
    const document = editor && this.review.of(keyOf(editor.document.uri));
    this.put("hashline.inReview", this.reviewAll.isInFront);
    this.put("hashline.inProposal", editor?.document.uri.scheme === PROPOSED);
    this.put("hashline.file", document && !document.readOnly ? this.verbsIn(document.entries) : "");
    this.put("hashline.hunkAtCursor", this.atCursor());
  }

  private verbsIn(entries: readonly Entry[]): string {
    const known = this.verbsOf.get(entries) ?? verbs(entries);
    this.verbsOf.set(entries, known);
    return known;
  }

  /** How the hunk at the cursor stands; empty where there is none to decide about. */
  private atCursor(): string {
    const meant = this.navigation.meant();
    if (!meant || meant.document.readOnly || meant.entry.hunk.deciding) {
      return "";
    }
    const { hunk } = meant.entry;
    if (hunk.state === "conflicted") {
      return isPastTaking(hunk) ? "lost" : "conflicted";
    }
    return verbsFor([hunk]);
  }

  private put(key: string, value: Value): void {
    if (this.set.get(key) !== value) {
      this.set.set(key, value);
      void vscode.commands.executeCommand("setContext", key, value);
    }
  }
}

function verbs(entries: readonly Entry[]): string {
  return entries.length > 0 ? verbsFor(entries.map(({ hunk }) => hunk)) : "";
}
