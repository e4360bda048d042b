/** An agent's lines beside the person's, to take from while a conflict is solved by hand. */
import * as vscode from "vscode";
import type { Navigation } from "../navigation";
import type { Review } from "../review/model";
import { saying } from "./statusMessage";

const SCHEME = "hashline-agent";

export class ByHand implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly disposables: vscode.Disposable[];
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  /** The lines that are shown, by the URI that shows them. */
  private readonly shown = new Map<string, { name: string; lines: readonly string[] }>();

  constructor(
    private readonly review: Review,
    private readonly navigation: Navigation,
  ) {
    this.disposables = [
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      review.follow(() => {
        this.renew();
        void this.closeSettled();
      }),
    ];
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.shown.get(uri.toString())?.lines.join("\n") ?? "";
  }

  /** Goes to the hunk, with the agent's lines beside it. */
  async open(name: string): Promise<void> {
    const found = this.review.find(name);
    if (!found) {
      return;
    }
    const { edit, hunk } = found.entry;
    await this.navigation.go(found);
    const file = vscode.Uri.parse(found.document.uri);
    const base = file.path.slice(file.path.lastIndexOf("/") + 1);
    const uri = vscode.Uri.from({
      scheme: SCHEME,
      path: `/${edit.agent.replaceAll("/", " ")}: ${base}`,
      query: name,
    });
    this.shown.set(uri.toString(), { name, lines: hunk.proposed });
    const options = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true };
    await vscode.window.showTextDocument(uri, options);
    const what = hunk.proposed.length === 0 ? "The agent takes these lines away. " : "";
    saying.say(`${what}When yours are right: Keep mine, above them`, 10_000);
  }

  /** The agent may have other lines for the same hunk by now. */
  private renew(): void {
    for (const [uri, { name, lines }] of this.shown) {
      const proposed = this.review.find(name)?.entry.hunk.proposed;
      if (proposed && proposed.join("\n") !== lines.join("\n")) {
        this.shown.set(uri, { name, lines: proposed });
        this.changed.fire(vscode.Uri.parse(uri));
      }
    }
  }

  /** Closes what belongs to hunks that are no longer conflicted. */
  private async closeSettled(): Promise<void> {
    const settled = [...this.shown].filter(([, { name }]) => {
      return this.review.find(name)?.entry.hunk.state !== "conflicted";
    });
    if (settled.length === 0) {
      return;
    }
    for (const [uri] of settled) {
      this.shown.delete(uri);
    }
    const gone = new Set(settled.map(([uri]) => uri));
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const closing = tabs.filter(
      (tab) => tab.input instanceof vscode.TabInputText && gone.has(tab.input.uri.toString()),
    );
    if (closing.length > 0) {
      await vscode.window.tabGroups.close(closing, true);
    }
  }
}
