/** One quiet notice for each conversation of an agent that proposes edits. */
import * as vscode from "vscode";
import { config } from "../config";
import type { Review, ReviewDocument } from "../review/model";
import { tallyInWords, tallyOf } from "../review/wording";

/** Several documents of one call come one after the other. */
const TOGETHER_MS = 300;

export class Notice implements vscode.Disposable {
  private readonly told = new Set<string>();
  private readonly subscription: { dispose(): void };
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly review: Review) {
    this.subscription = review.subscribe((document) => this.heed(document));
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscription.dispose();
  }

  private heed({ entries }: ReviewDocument): void {
    // An agent that names no conversations has one for each call: then its connection counts.
    const sources = entries.map(({ edit }) => edit.connection ?? edit.conversation);
    const fresh = sources.filter((source) => !this.told.has(source));
    for (const source of fresh) {
      this.told.add(source);
    }
    const wish = config.notify();
    if (fresh.length > 0 && (wish === "always" || (wish === "unfocused" && !vscode.window.state.focused))) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        void this.tell();
      }, TOGETHER_MS);
    }
  }

  private async tell(): Promise<void> {
    const tally = tallyOf(this.review.all());
    if (tally.hunks === 0) {
      return;
    }
    const sentence = `${tally.agents.join(", ")}: ${tallyInWords(tally)}.`;
    if ((await vscode.window.showInformationMessage(sentence, "Show")) === "Show") {
      await vscode.commands.executeCommand("hashline.review.focus");
    }
  }
}
