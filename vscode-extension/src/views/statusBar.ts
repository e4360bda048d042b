/** How much there is to decide, in the status bar, and how the sidecar is, among the states of languages. */
import * as vscode from "vscode";
import type { Review } from "../review/model";
import { type Tally, tallyInBrief, tallyInWords, tallyOf, waitingInWords } from "../review/wording";
import type { Sidecar, SidecarState } from "../sidecar";
import type { UnsyncedFile } from "./unsynced";

const ANY = [{ scheme: "file" }, { scheme: "untitled" }];

export class StatusBar implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly health: vscode.LanguageStatusItem;
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly review: Review,
    private readonly sidecar: Sidecar,
    private readonly unsynced: UnsyncedFile,
  ) {
    this.item = vscode.window.createStatusBarItem("hashline.pending", vscode.StatusBarAlignment.Left, 50);
    this.item.name = "Hashline";
    this.health = vscode.languages.createLanguageStatusItem("hashline.health", ANY);
    this.health.name = "Hashline";
    this.disposables = [
      this.item,
      this.health,
      review.follow(() => this.update()),
      sidecar.onDidChangeState(() => this.update()),
      sidecar.onDidChangeWaiting(() => this.update()),
      unsynced.onDidChange(() => this.update()),
    ];
    this.update();
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  /** As it is shown, for tests; none while it is hidden. */
  get shown(): { text: string; tooltip: string } | undefined {
    return this.visible ? { text: this.item.text, tooltip: String(this.item.tooltip) } : undefined;
  }

  /** What is said among the states of languages, for tests. */
  get saidOfHealth(): string {
    return `${this.health.text}: ${this.health.detail}`;
  }

  private visible = false;

  private show(text: string, tooltip: string, command: string, background?: string): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
    this.item.accessibilityInformation = { label: tooltip };
    this.item.backgroundColor = background === undefined ? undefined : new vscode.ThemeColor(background);
    this.visible = true;
    this.item.show();
  }

  private update(): void {
    const { state } = this.sidecar;
    this.updateHealth(state);
    const tally = tallyOf(this.review.all());
    if (state.kind === "failed") {
      this.show(
        "$(error) Hashline",
        state.failure.sentence,
        "hashline.explainFailure",
        "statusBarItem.errorBackground",
      );
    } else if (tally.hunks > 0) {
      const background = tally.conflicted > 0 ? "statusBarItem.warningBackground" : undefined;
      const waiting = waitingInWords(this.sidecar.waitingAgents);
      const words = [
        `Hashline: ${tallyInWords(tally)}`,
        ...waiting.map((who) => `${who} for your decision`),
        "Review All",
      ];
      this.show(pendingText(tally, waiting), words.join(". "), "hashline.reviewAll", background);
    } else {
      this.visible = false;
      this.item.hide();
    }
  }

  private updateHealth(state: SidecarState): void {
    const { health } = this;
    health.busy = state.kind === "starting";
    health.severity = vscode.LanguageStatusSeverity.Information;
    health.command = { title: "Restart", command: "hashline.restart" };
    switch (state.kind) {
      case "running":
        health.text = `Sidecar ${state.version}`;
        health.detail = "agents edit the text that is in this window";
        break;
      case "starting":
        health.text = "Sidecar is starting";
        health.detail = "";
        break;
      case "stopped":
        health.text = "Sidecar is stopped";
        health.detail = "agents work on the disk";
        break;
      case "failed":
        health.text = "Sidecar does not run";
        health.detail = state.failure.sentence;
        health.severity = vscode.LanguageStatusSeverity.Error;
    }
    if (this.unsynced.sentence !== undefined && state.kind === "running") {
      health.text = "File too large";
      health.detail = this.unsynced.sentence;
      health.severity = vscode.LanguageStatusSeverity.Warning;
    }
  }
}

/** @param waiting who waits for a decision, in words */
function pendingText(tally: Tally, waiting: readonly string[]): string {
  const who = waiting.length > 0 ? waiting : tally.agents.length === 1 ? tally.agents : [];
  const sign = tally.conflicted > 0 ? "$(warning)" : "$(request-changes)";
  return [`${sign} ${tallyInBrief(tally)}`, ...who].join(" · ");
}
