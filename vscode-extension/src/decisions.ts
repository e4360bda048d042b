/** The person's decisions: what they are about, and the ways on where one cannot be carried out as it is. */
import * as vscode from "vscode";
import { reasonOf } from "./failure";
import { type Choice, type Decide, type Decided, decide, type Refusal } from "./protocol";
import type { Entry } from "./review/hunks";
import type { Review, ReviewDocument } from "./review/model";
import { doneInWords, leftIn, leftInWords } from "./review/progress";
import { aboutHunk, type Find, onward, type WayOn, waysOfHunk } from "./review/refusals";
import { meantBy } from "./review/target";
import type { Target } from "./review/tree";
import { conflictOf, counted, type Way } from "./review/wording";
import type { Sidecar } from "./sidecar";
import { keyInFront } from "./views/compareAddresses";
import { saying } from "./views/statusMessage";

/** What a decision is about. */
export interface Subject {
  targets: readonly Target[];
  entries: readonly Entry[];
}

/** Whether a hunk, or one that is decided with it as one, rests on hunks that are not. */
function isBuiltOnOthers(name: string, { document, entry }: { document: ReviewDocument; entry: Entry }) {
  const hunks = document.edits.flatMap((edit) => edit.hunks);
  const together = [entry.hunk, ...hunks.filter((hunk) => hunk.partOf === name)];
  return together.some((hunk) => hunk.dependsOn.length > 0);
}

/** So many decisions can be reopened. */
const MOST_REOPENED = 100;

/** What was decided as one. */
interface Batch {
  /** The hunks that can be reopened, as far as the sidecar has answered. */
  names: readonly string[];
  /** Settles when it has answered all of it. */
  readonly answered: Promise<unknown>;
  isAnswered: boolean;
}

export class Decisions implements vscode.Disposable {
  /** What was decided here, in the order in which it was asked. */
  private readonly made: Batch[] = [];
  private readonly changed = new vscode.EventEmitter<void>();
  /** Decisions can be reopened, or cannot any more. */
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly review: Review,
    private readonly find: Find,
    private readonly sidecar: Sidecar,
    private readonly editByHand: (name: string) => Promise<void>,
  ) {}

  dispose(): void {
    this.changed.dispose();
  }

  get canReopen(): boolean {
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
    const uri = this.find(name)?.document.uri ?? null;
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

  /** A decision as the sidecar's own commands have it: code actions call them. */
  async command(said: Decide): Promise<void> {
    await this.send([said], meantBy(said, this.review.all()));
  }

  /**
   * Reopens the last decision: its hunks are to be decided again. What is refused of it can be reopened later. A decision that the
   * sidecar has not answered is waited for, as it is the one that the person means.
   */
  async reopen(): Promise<void> {
    const batch = this.made.pop();
    const at = this.made.length;
    this.changed.fire();
    await batch?.answered;
    const names = batch?.names ?? [];
    if (names.length === 0) {
      return;
    }
    const asked = names.map((name) => aboutHunk(name, null, { decision: "reopen" }));
    const decided = await this.send(asked, names);
    const stays = (name: string) =>
      decided?.refused.some(({ hunk, why }) => hunk === name && why !== "gone") ?? true;
    const left = names.filter(stays);
    if (left.length > 0) {
      this.made.splice(at, 0, { names: left, answered: Promise.resolve(), isAnswered: true });
      this.changed.fire();
    }
  }

  /** Has agents told something about hunks that stay undecided. */
  async comment({ targets, entries }: Subject, reason: string): Promise<void> {
    const asked = targets.map((target) => decide({ ...target, decision: "comment", reason }));
    await this.send(
      asked,
      entries.map((entry) => entry.name),
    );
  }

  /** Reopens a hunk, whenever it was decided. */
  async reopenHunk({ name }: Entry): Promise<void> {
    for (const batch of [...this.made]) {
      batch.names = batch.names.filter((made) => made !== name);
      if (batch.names.length === 0 && batch.isAnswered) {
        this.made.splice(this.made.indexOf(batch), 1);
      }
    }
    this.changed.fire();
    await this.send([aboutHunk(name, null, { decision: "reopen" })], [name]);
  }

  /** Accepts, with the person's own text for some of the hunks. Returns what was refused; who asks for it says so. */
  async accept(names: readonly string[], texts: ReadonlyMap<string, string[]>): Promise<readonly Refusal[]> {
    const asked = names.map((name) => {
      const found = this.review.find(name);
      const text = texts.get(name) ?? null;
      const gone = text !== null && found !== undefined && same(text, found.entry.hunk.removed);
      const choice: Choice = gone ? "reject" : "accept";
      const withOthers = text === null || (!gone && found !== undefined && isBuiltOnOthers(name, found));
      const said = { decision: choice, text: gone ? null : text, withOthers };
      return aboutHunk(name, found?.document.uri ?? null, said);
    });
    return (await this.say(asked)).refused;
  }

  /** Says decisions to the sidecar. What it took can be reopened as one. */
  private say(asked: readonly Decide[]): Promise<Decided> {
    const decided: Decided = { queued: [], refused: [] };
    const said = this.sayEach(asked, decided);
    if (asked[0] && isDecision(asked[0])) {
      this.remember(decided, said);
    }
    return said;
  }

  /** Remembers what is decided as one. What the sidecar refuses of it cannot be reopened. */
  private remember(decided: Decided, said: Promise<unknown>): void {
    const take = () => {
      batch.names = [...new Set(decided.queued)];
      batch.isAnswered = true;
      if (batch.names.length === 0 && this.made.includes(batch)) {
        this.made.splice(this.made.indexOf(batch), 1);
      }
      this.changed.fire();
    };
    const batch: Batch = { names: [], answered: said.then(take, take), isAnswered: false };
    this.made.push(batch);
    this.made.splice(0, this.made.length - MOST_REOPENED);
    this.changed.fire();
  }

  private async sayEach(asked: readonly Decide[], decided: Decided): Promise<Decided> {
    // Their lists may come before the answer.
    const meant = asked.flatMap((said) => this.namesOf(said)).flatMap((name) => this.find(name)?.entry ?? []);
    for (const decision of asked) {
      const { queued, refused } = await this.sidecar.decide(decision);
      decided.queued.push(...queued);
      decided.refused.push(...refused);
    }
    this.tell(asked, decided, meant);
    return decided;
  }

  /** The hunks that a decision is about: pending ones, or one of the history. */
  private namesOf(said: Decide): string[] {
    const pending = meantBy(said, this.review.all());
    const isPast = pending.length === 0 && said.edit !== null && said.hunk !== null;
    return isPast ? [`${said.edit}:${said.hunk}`] : pending;
  }

  /** What it came to, and what is left. */
  private tell(asked: readonly Decide[], { queued }: Decided, meant: readonly Entry[]): void {
    const last = asked.at(-1);
    if (!last || queued.length === 0) {
      return;
    }
    const taken = new Set(queued);
    const decided = meant.filter(({ name }) => taken.has(name));
    const hunks = decided.map(({ hunk }) => hunk);
    const agents = [...new Set(decided.map(({ edit }) => edit.agent))].sort();
    const told = last.reason === null ? [] : [`Told ${agents.join(", ")}: "${last.reason}"`];
    const gone = isDecision(last) ? taken : new Set<string>();
    const left = leftInWords(leftIn(this.review.all(), keyInFront(), gone));
    const line = [doneInWords(last.decision, hunks), ...told, left].join(". ");
    saying.say(line);
  }

  /** Says decisions, and goes on where they are refused. Returns what the sidecar answered, if it did. */
  private async send(asked: readonly Decide[], meant: readonly string[]): Promise<Decided | undefined> {
    let decided: Decided;
    try {
      decided = await this.say(asked);
    } catch (error) {
      void vscode.window.showErrorMessage(`Hashline: not decided: ${reasonOf(error)}.`);
      return undefined;
    }
    const next = onward(asked, decided, meant, this.find);
    if (next && next.ways.length > 0) {
      await this.choose(next.message, next.ways);
    } else if (next) {
      void vscode.window.showWarningMessage(`Hashline: ${next.message}`);
    }
    return decided;
  }

  /** Asks for one of several ways. The person has just asked for something that needs it. */
  private async choose(message: string, ways: readonly WayOn[]): Promise<void> {
    // Only what is pending can be edited by hand.
    const open = ways.filter((way) => !("byHand" in way) || this.review.find(way.byHand) !== undefined);
    const items = open.map((way) => ({ label: way.word, detail: detailOf(way), way }));
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

/** Whether what is said leaves less to be decided. */
function isDecision({ decision }: Decide): boolean {
  return decision !== "reopen" && decision !== "comment";
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
