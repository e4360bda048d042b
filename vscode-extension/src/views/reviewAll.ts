/**
 * All that is to be decided, on one screen: VS Code's own editor for comparisons of several files.
 *
 * Its texts follow decisions, as those of every comparison do. Which files it has is fixed while it is open. So it is opened anew, in its place,
 * when the person's own decision leaves nothing to decide in a file of it, or only conflicts: that one goes, or shows these, and the next one
 * comes to the top. With the last one it is closed. What agents do meanwhile changes texts in it, and adds no file until then: nothing moves
 * under the person's hands.
 */
import * as vscode from "vscode";
import type { Decisions } from "../decisions";
import { type Comparison, comparedIn } from "../openDocuments";
import type { Review, ReviewDocument } from "../review/model";
import { counted, sizeOfAll, tallyOf } from "../review/wording";
import type { Sidecar } from "../sidecar";
import type { Compare } from "./compare";
import { BASE, keyInFront, PROPOSED } from "./compareAddresses";
import { saying } from "./statusMessage";

/** Lists of several documents come one after the other. */
const TOGETHER_MS = 150;
const SAID_MS = 8000;
const TITLE = "Review: ";

export class ReviewAll implements vscode.Disposable {
  private readonly disposables: { dispose(): void }[];
  private timer: NodeJS.Timeout | undefined;
  /** The file that the person has just decided about something in; none where they have not. */
  private decidedIn: { key: string | undefined } | undefined;
  /** What it was opened with, by the keys of the files. */
  private shown: ReadonlyMap<string, string> = new Map();

  constructor(
    private readonly review: Review,
    private readonly compare: Compare,
    decisions: Decisions,
    sidecar: Sidecar,
    private readonly failed: (error: unknown) => void,
  ) {
    this.disposables = [
      decisions.onDidChange(() => {
        this.decidedIn = { key: keyInFront() };
      }),
      // Another one knows nothing at first.
      sidecar.onDidChangeState(() => {
        this.decidedIn = undefined;
      }),
      review.subscribe(() => this.followSoon()),
      vscode.workspace.onDidSaveTextDocument(() => this.followSoon()),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  /** Whether it is what the person looks at. */
  get isInFront(): boolean {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    return tab !== undefined && isReview(tab);
  }

  /** Opens it, or opens it anew. */
  async open(): Promise<void> {
    const documents = this.review.all();
    if (documents.length === 0) {
      saying.say("Hashline: Nothing to decide", SAID_MS);
      return;
    }
    await this.show(documents);
    const saving = documents.some(({ entries }) => entries.some(({ hunk }) => hunk.state === "held"));
    if (saving) {
      saying.say("Saving a file on the right side accepts its hunks", SAID_MS);
    }
  }

  private async show(documents: readonly ReviewDocument[]): Promise<void> {
    const before = reviewTabs();
    this.decidedIn = undefined;
    const compared = await Promise.all(documents.map((document) => this.comparedOf(document)));
    this.shown = new Map(documents.map(({ key }, index) => [key, String(compared[index])]));
    await vscode.commands.executeCommand("vscode.changes", titleOf(documents), compared);
    // After the new one is there, so that nothing else comes to the front. What is not saved in one stays.
    await vscode.window.tabGroups.close(before.filter(isSaved), true);
  }

  /** A file, and its two sides. */
  private async comparedOf(document: ReviewDocument): Promise<(vscode.Uri | undefined)[]> {
    const { left, right } = await this.compare.sidesAmongOthers(document);
    return [vscode.Uri.parse(document.uri), left, right];
  }

  private followSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.follow().catch(this.failed);
    }, TOGETHER_MS);
  }

  private async follow(): Promise<void> {
    const [tab, ...others] = reviewTabs();
    if (!tab || others.length > 0 || !isSaved(tab)) {
      return;
    }
    const { decidedIn } = this;
    const documents = this.review.all();
    if (!decidedIn) {
      return;
    }
    if (documents.length === 0) {
      await vscode.window.tabGroups.close(tab, true);
    } else if (this.isInFront && (await this.isPast())) {
      await this.show(startingAfter(documents, decidedIn.key));
    }
  }

  /** Whether a file of it is to be shown otherwise by now, or not any more. */
  private async isPast(): Promise<boolean> {
    for (const [key, compared] of this.shown) {
      const document = this.review.of(key);
      if (!document || String(await this.comparedOf(document)) !== compared) {
        return true;
      }
    }
    return false;
  }
}

/** The documents behind a file first, and then those before it: what was passed over comes again last. */
export function startingAfter<T extends { key: string }>(
  documents: readonly T[],
  key: string | undefined,
): readonly T[] {
  const behind = documents.filter((document) => key === undefined || document.key >= key);
  return [...behind, ...documents.filter((document) => !behind.includes(document))];
}

/** "Review: claude-code · 3 hunks, 1 conflicted · +4 −2". VS Code says how many files it has. */
export function titleOf(documents: readonly ReviewDocument[]): string {
  const { hunks, conflicted, agents } = tallyOf(documents);
  const size = sizeOfAll(documents.flatMap(({ entries }) => entries.map(({ hunk }) => hunk)));
  const count = `${counted(hunks, "hunk")}${conflicted > 0 ? `, ${conflicted} conflicted` : ""}`;
  const parts = [agents.join(", "), count, ...(size === "" ? [] : [size])];
  return TITLE + parts.join(" · ");
}

/** Whether nothing is lost with a tab: VS Code tells later of the tab than of the texts in it. */
function isSaved(tab: vscode.Tab): boolean {
  const sides = (comparedIn(tab.input) ?? []).map(({ modified }) => modified.toString());
  const isDirty = ({ uri, isDirty }: vscode.TextDocument) => isDirty && sides.includes(uri.toString());
  return !tab.isDirty && !vscode.workspace.textDocuments.some(isDirty);
}

function reviewTabs(): vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(isReview);
}

/** VS Code does not tell of files with one side only, so a review of nothing else is known by its title. */
function isReview({ input, label }: vscode.Tab): boolean {
  const compared = comparedIn(input);
  const isOwn = ({ original, modified }: Comparison) =>
    [original, modified].some(({ scheme }) => scheme === BASE || scheme === PROPOSED);
  return compared !== undefined && label.startsWith(TITLE) && (compared.length === 0 || compared.some(isOwn));
}
