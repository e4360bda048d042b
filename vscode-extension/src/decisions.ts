/** The person's decisions: what they are about, and the ways on where one cannot be carried out as it is. */
import * as vscode from "vscode";
import { type Choice, type Decide, type Decided, decide } from "./protocol";
import type { Entry } from "./review/hunks";
import type { Review } from "./review/model";
import { aboutHunk, onward, type WayOn, waysOfHunk } from "./review/refusals";
import type { Target } from "./review/tree";
import { conflictOf, counted, type Way } from "./review/wording";
import { reasonOf, type Sidecar } from "./sidecar";

/** What a decision is about. */
export interface Subject {
  targets: readonly Target[];
  entries: readonly Entry[];
}

/** So many decisions can be taken back. */
const MOST_TAKEN_BACK = 100;

export class Decisions implements vscode.Disposable {
  private readonly made: string[][] = [];
  private readonly changed = new vscode.EventEmitter<void>();
  /** Decisions can be taken back, or cannot any more. */
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly review: Review,
    private readonly sidecar: Sidecar,
    private readonly editByHand: (name: string) => Promise<void>,
  ) {}

  dispose(): void {
    this.changed.dispose();
  }

  get canTakeBack(): boolean {
    return this.made.length > 0;
  }

  /** Accepts or rejects. Where that needs an answer of the person's, they are asked. */
  async decide(subject: Subject, decision: "accept" | "reject", reason: string | null = null): Promise<void> {
    const [one, ...others] = subject.entries;
    const asks = decision === "accept" ? "conflicted" : "edited";
    if (one && others.length === 0 && one.hunk.state === asks) {
      const message = one.hunk.state === "edited" ? "You changed lines of this hunk" : conflictOf(one.hunk);
      return this.choose(message, waysOfHunk(one.name, this.find, reason));
    }
    const asked = subject.targets.map((target) => decide({ ...target, decision, reason }));
    await this.send(
      asked,
      subject.entries.map((entry) => entry.name),
    );
  }

  /** Decides about a hunk in one of the ways that were offered for it. */
  async way(name: string, { decision, edited }: Way): Promise<void> {
    const uri = this.review.find(name)?.document.uri ?? null;
    if (decision === "byHand") {
      await this.editByHand(name);
    } else {
      await this.send([aboutHunk(name, uri, { decision, edited: edited ?? null })], [name]);
    }
  }

  /** Offers the ways out of a conflict. */
  async resolve(entry: Entry): Promise<void> {
    await this.choose(conflictOf(entry.hunk), waysOfHunk(entry.name, this.find, null));
  }

  /** Takes the last decision back: its hunks are to be decided again. */
  async takeBack(): Promise<void> {
    const names = this.made.pop();
    this.changed.fire();
    if (names) {
      const asked = names.map((name) => aboutHunk(name, null, { decision: "reopen" }));
      await this.send(asked, names);
    }
  }

  /** Decides, with the person's own text for some of the hunks; what is refused is told. */
  async accept(names: readonly string[], texts: ReadonlyMap<string, string[]>): Promise<void> {
    const asked = names.map((name) => {
      const found = this.review.find(name);
      const text = texts.get(name) ?? null;
      const gone = text !== null && found !== undefined && same(text, found.entry.hunk.removed);
      const choice: Choice = gone ? "reject" : "accept";
      const said = { decision: choice, text: gone ? null : text, withOthers: text === null };
      return aboutHunk(name, found?.document.uri ?? null, said);
    });
    await this.send(asked, names);
  }

  private readonly find = (name: string) => this.review.find(name);

  private async send(asked: readonly Decide[], meant: readonly string[]): Promise<void> {
    const decided: Decided = { queued: [], refused: [] };
    try {
      for (const decision of asked) {
        const { queued, refused } = await this.sidecar.decide(decision);
        decided.queued.push(...queued);
        decided.refused.push(...refused);
      }
    } catch (error) {
      void vscode.window.showErrorMessage(`Hashline: not decided: ${reasonOf(error)}.`);
    }
    if (decided.queued.length > 0 && asked[0]?.decision !== "reopen") {
      this.made.push([...new Set(decided.queued)]);
      this.made.splice(0, this.made.length - MOST_TAKEN_BACK);
      this.changed.fire();
    }
    const next = onward(asked, decided, meant, this.find);
    if (next && next.ways.length > 0) {
      await this.choose(next.message, next.ways);
    } else if (next) {
      void vscode.window.showWarningMessage(`Hashline: ${next.message}`);
    }
  }

  /** Asks for one of several ways. The person has just asked for something that needs it. */
  private async choose(message: string, ways: readonly WayOn[]): Promise<void> {
    const items = ways.map((way) => ({ label: way.word, detail: detailOf(way), way }));
    const options = { title: `Hashline: ${message}`, placeHolder: "Escape leaves it as it is" };
    const chosen = await vscode.window.showQuickPick(items, options);
    if (!chosen) {
      return;
    }
    if ("byHand" in chosen.way) {
      await this.editByHand(chosen.way.byHand);
      return;
    }
    const { decisions } = chosen.way;
    await this.send(
      decisions,
      decisions.map(({ edit, hunk }) => `${edit}:${hunk}`),
    );
  }
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

const DETAILS: Partial<Record<Choice, string>> = {
  keepMine: "Your lines stay, the agent's are rejected",
  takeTheirs: "Your lines go (a copy is kept in the history), the agent's come",
  keepBoth: "Your lines first, then the agent's",
};

function detailOf(way: WayOn): string {
  if ("byHand" in way) {
    return "The agent's lines beside yours; Keep mine when yours are right";
  }
  const [one, ...others] = way.decisions;
  if (!one) {
    return "";
  }
  return others.length > 0 ? counted(way.decisions.length, "decision") : (DETAILS[one.decision] ?? "");
}
