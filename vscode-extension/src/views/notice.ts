/**
 * One quiet notice for what agents have just done.
 *
 * What comes together is told together, and one notice does not follow the other closely: an agent that works through many files is no
 * reason for many of them. What was decided meanwhile is not told.
 */
import * as vscode from "vscode";
import { config, type Notify } from "../config";
import type { Entry } from "../review/hunks";
import type { Review, ReviewDocument } from "../review/model";
import { type News, newsInWords } from "../review/news";
import type { Names } from "../review/tree";
import { keyInFront, keyOf } from "./compareAddresses";

/** Calls that an agent makes at once come one after the other. */
const QUIET_MS = 1000;
const LONGEST_MS = 5000;
/** Between two notices. */
const PAUSE_MS = 15_000;

export class Notice implements vscode.Disposable {
  /** The names of the hunks that were heard of. */
  private readonly known = new Set<string>();
  /** The connections and conversations that were heard of. */
  private readonly sources = new Set<string>();
  /** The hunks that are to be told of, by name, and whether the person saw them come. */
  private readonly waiting = new Map<string, { seen: boolean }>();
  private since = 0;
  private last = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private readonly subscription: { dispose(): void };

  constructor(
    private readonly review: Review,
    private readonly names: Names,
  ) {
    this.subscription = review.subscribe((document) => this.heed(document));
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscription.dispose();
  }

  private heed({ key, entries }: ReviewDocument): void {
    const isSeen = inSight().has(key) && vscode.window.state.focused;
    // An agent that names no conversations has one for each call: then its connection counts.
    const sourceOf = ({ edit }: Entry) => edit.connection ?? edit.conversation;
    // What is in sight shows itself: once for each is enough.
    const fresh = entries.filter(
      (entry) => !this.known.has(entry.name) && !(isSeen && this.sources.has(sourceOf(entry))),
    );
    for (const entry of entries) {
      this.known.add(entry.name);
      this.sources.add(sourceOf(entry));
    }
    for (const { name } of fresh) {
      this.waiting.set(name, { seen: isSeen });
    }
    if (config.notify() === "never") {
      this.waiting.clear();
    } else if (fresh.length > 0) {
      this.tellSoon();
    }
  }

  private tellSoon(): void {
    const now = Date.now();
    if (this.timer === undefined) {
      this.since = now;
    }
    clearTimeout(this.timer);
    const due = Math.max(Math.min(now + QUIET_MS, this.since + LONGEST_MS), this.last + PAUSE_MS);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.tell();
    }, due - now);
  }

  private async tell(): Promise<void> {
    const here = keyInFront();
    const wish = config.notify();
    const news = this.review.all().flatMap((document): News[] => {
      const isHere = document.key === here;
      // What was seen to come goes without saying, but for what is in front still.
      const isToldOf = ({ seen }: { seen: boolean }) => !seen || isHere || wish === "always";
      const fresh = document.entries.filter(({ name }) => {
        const waits = this.waiting.get(name);
        return waits !== undefined && isToldOf(waits);
      });
      return fresh.length > 0 ? [{ document, fresh, isHere }] : [];
    });
    this.waiting.clear();
    if (!isWanted(wish, news)) {
      return;
    }
    this.last = Date.now();
    if ((await vscode.window.showInformationMessage(newsInWords(news, this.names), REVIEW)) === REVIEW) {
      await vscode.commands.executeCommand("hashline.reviewAll");
    }
  }
}

const REVIEW = "Review All";

function isWanted(wish: Notify, news: readonly News[]): boolean {
  if (wish === "never" || news.length === 0) {
    return false;
  }
  const sight = inSight();
  const isElsewhere = news.some(({ document }) => !sight.has(document.key));
  return wish === "always" || !vscode.window.state.focused || (wish === "elsewhere" && isElsewhere);
}

/** The documents that the person has before them. */
function inSight(): ReadonlySet<string> {
  return new Set(vscode.window.visibleTextEditors.map(({ document }) => keyOf(document.uri)));
}
