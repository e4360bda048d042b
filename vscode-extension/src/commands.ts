/** The commands: what each does while the sidecar runs, and what it does otherwise. */
import * as vscode from "vscode";
import { setUpAgent } from "./agents/setup";
import type { Context } from "./context";
import type { Subject } from "./decisions";
import { askComment, askReason } from "./reasons";
import type { Entry } from "./review/hunks";
import type { ReviewDocument } from "./review/model";
import { insteadInWords, leftIn } from "./review/progress";
import type { Node } from "./review/tree";
import { counted, tallyOf, VERBS, verbsFor, type Way } from "./review/wording";
import { keyInFront, keyOf } from "./views/compareAddresses";
import { VIEW as HISTORY } from "./views/fileHistory";
import { saying } from "./views/statusMessage";

type Run = (...args: unknown[]) => unknown;

interface Command {
  enabled: (context: Context) => Run;
  /** While the sidecar does not run. Without it the person is told why not. */
  disabled?: (context: Context) => Run;
}

/** It does the same whether the sidecar runs or not. */
const always = (make: (context: Context) => Run): Command => ({ enabled: make, disabled: make });

const SCOPES = ["Hunk", "Edit", "File", "Conversation", "Agent", "All"] as const;
type Scope = (typeof SCOPES)[number];

/** A command about a row of the tree, the name of a hunk or a file; called about nothing, about what is at the cursor. */
const aboutOne = (run: (context: Context, about: unknown) => unknown): Command => ({
  enabled:
    (context) =>
    (...about) =>
      isForgotten(about) ? forgotten() : run(context, about[0]),
});

/** While VS Code asks for the tree again it does not know the rows that are still drawn, and calls about them with `undefined`. */
function isForgotten(about: readonly unknown[]): boolean {
  return about.length > 0 && (about[0] === undefined || about[0] === null);
}

function forgotten(): void {
  const why = "the list was being redrawn, so it is not clear which row you meant";
  void vscode.window.showWarningMessage(`Hashline: ${why}. Nothing was done: press it again.`);
}

const isNode = (about: unknown): about is Node =>
  typeof about === "object" && about !== null && "targets" in about;

interface Meant {
  document: ReviewDocument;
  entry: Entry;
}

function hunkOf(context: Context, about: unknown): Meant | undefined {
  if (isNode(about)) {
    const { document, entry } = about;
    return document && entry && { document, entry };
  }
  return typeof about === "string" ? context.review.find(about) : context.navigation.meant();
}

function documentOf(context: Context, about: unknown): ReviewDocument | undefined {
  if (isNode(about) && about.document) {
    return about.document;
  }
  if (typeof about === "string") {
    return context.review.find(about)?.document;
  }
  const uri = about instanceof vscode.Uri ? about : vscode.window.activeTextEditor?.document.uri;
  return uri && context.review.of(keyOf(uri));
}

/** What an agent has proposed. */
function ofAgent(all: readonly Entry[], agent: string): Subject {
  const entries = all.filter(({ edit }) => edit.agent === agent);
  const conversations = new Set(entries.map(({ edit }) => edit.conversation));
  return { targets: [...conversations].map((conversation) => ({ conversation })), entries };
}

/** What a decision is about; none where there is nothing of the kind. */
function subjectOf(context: Context, scope: Scope, about: unknown): Subject | undefined {
  if (scope === "All") {
    const documents = context.review.all().filter(({ readOnly }) => !readOnly);
    const entries = documents.flatMap((document) => document.entries);
    const only = context.tree.onlyAgent;
    if (only !== undefined) {
      return ofAgent(entries, only); // what is not shown is not meant
    }
    return entries.length > 0 ? { targets: documents.map(({ uri }) => ({ uri })), entries } : undefined;
  }
  if (scope === "File" && !(isNode(about) && about.kind === "file")) {
    const document = documentOf(context, about);
    return document && { targets: [{ uri: document.uri }], entries: document.entries };
  }
  if (isNode(about) && about.kind !== "hunk") {
    return about;
  }
  const hunk = hunkOf(context, about);
  if (!hunk) {
    return undefined;
  }
  const { document, entry } = hunk;
  const { id, conversation } = entry.edit;
  if (scope === "Hunk") {
    return { targets: [{ uri: document.uri, edit: id, hunk: entry.hunk.number }], entries: [entry] };
  }
  const all = context.review.all().flatMap(({ entries }) => entries);
  if (scope === "Agent") {
    return ofAgent(all, entry.edit.agent);
  }
  return scope === "Edit"
    ? { targets: [{ edit: id }], entries: all.filter(({ edit }) => edit.id === id) }
    : { targets: [{ conversation }], entries: all.filter(({ edit }) => edit.conversation === conversation) };
}

function nothing(context: Context, scope: Scope): void {
  const what =
    scope === "All"
      ? "Nothing to decide"
      : scope === "File"
        ? "Nothing to decide in this file"
        : "No hunk on this line";
  const left = leftIn(context.review.all(), keyInFront());
  saying.say(`Hashline: ${insteadInWords(what, left)}`);
}

/** A decision about whatever the command is called about. `verb` is the decision, whatever the word for it is. */
function deciding(scope: Scope, verb: "accept" | "reject"): Command {
  const decide = async (context: Context, about?: unknown) => {
    const subject = subjectOf(context, scope, about);
    return subject ? context.decisions.decide(subject, verb) : nothing(context, scope);
  };
  return scope === "All" ? { enabled: (context) => () => decide(context) } : aboutOne(decide);
}

/** The same, whatever the word for it is. */
const withReason = aboutOne(async (context, about) => {
  const scope = isNode(about) && about.kind === "file" ? "File" : "Hunk";
  const subject = subjectOf(context, scope, about);
  if (!subject) {
    return nothing(context, scope);
  }
  const reason = await askReason(`${rejecting(subject)} ${counted(subject.entries.length, "hunk")}`);
  return reason === undefined ? undefined : context.decisions.decide(subject, "reject", reason);
});

/** About a hunk or a file: without a decision. */
const comment = aboutOne(async (context, about) => {
  const scope = isNode(about) && about.kind === "file" ? "File" : "Hunk";
  const subject = subjectOf(context, scope, about);
  if (!subject) {
    return nothing(context, scope);
  }
  const said = await askComment(`Comment on ${counted(subject.entries.length, "hunk")}`);
  return said === undefined ? undefined : context.decisions.comment(subject, said);
});

function rejecting({ entries }: Subject): string {
  return VERBS[verbsFor(entries.map(({ hunk }) => hunk))].reject;
}

const resolveConflict = aboutOne((context, about) => {
  const hunk = hunkOf(context, about);
  return hunk ? context.decisions.resolve(hunk.entry) : nothing(context, "Hunk");
});

const compare = aboutOne(async (context, about) => {
  const document = documentOf(context, about);
  const hunk = hunkOf(context, about);
  if (!document) {
    return nothing(context, "File");
  }
  const entry = hunk?.document.key === document.key ? hunk.entry : undefined;
  if (!(await context.compare.open(document, entry))) {
    const said = "There are no lines to compare here: what is conflicted is compared by Edit by hand.";
    void vscode.window.showInformationMessage(`Hashline: ${said}`);
  }
});

/** To the next hunk, or the one before; in the review of all files VS Code itself goes there. */
async function step({ navigation, review, reviewAll }: Context, direction: 1 | -1): Promise<void> {
  const entries = review.all().flatMap((document) => document.entries);
  const hasChanges = entries.some(({ hunk }) => hunk.file === null && hunk.state !== "conflicted");
  if (!reviewAll.isInFront || !hasChanges) {
    return navigation.step(direction);
  }
  await vscode.commands.executeCommand(`multiDiffEditor.goTo${direction === 1 ? "Next" : "Previous"}Change`);
  navigation.sayWhere();
}

/** Asks whose hunks the tree shows. */
async function showOneAgent(context: Context): Promise<void> {
  const { agents } = tallyOf(context.review.all());
  const items = [{ label: "All agents" }, ...agents.map((agent) => ({ label: agent, agent }))];
  const chosen = await vscode.window.showQuickPick<{ label: string; agent?: string }>(items, {
    title: "Hashline: whose hunks does the tree show?",
  });
  if (chosen) {
    context.tree.showOnly(chosen.agent);
  }
}

const revealInTree: Command = {
  enabled: (context) => async (about) => {
    if (typeof about === "string") {
      await context.tree.reveal(about);
    }
  },
};

const showStatus: Command = {
  enabled: (context) => async () => {
    const status = await context.sidecar.status();
    const agents = status.agents.length > 0 ? status.agents.join(", ") : "none so far";
    const detail = [
      `folders: ${status.roots.join(", ") || "none"}`,
      `documents open: ${status.documents}`,
      `hunks to decide: ${status.pending} (${status.conflicted} conflicted)`,
      `agents: ${agents}`,
      `socket: ${status.socket ?? "none"}`,
    ];
    const sentence = `hashline ${status.version} · ${detail.join(" · ")}`;
    context.log.info(sentence);
    void vscode.window.showInformationMessage(sentence);
  },
};

const decisions = Object.fromEntries(
  SCOPES.flatMap((scope) => [
    [`accept${scope}`, deciding(scope, "accept")],
    [`reject${scope}`, deciding(scope, "reject")],
    // The same decisions, in the words for what is in the text already.
    [`keep${scope}`, deciding(scope, "accept")],
    [`undo${scope}`, deciding(scope, "reject")],
  ]),
);

export const COMMANDS: Record<string, Command> = {
  ...decisions,
  rejectWithReason: withReason,
  undoWithReason: withReason,
  commentHunk: comment,
  resolveConflict,
  decideWay: {
    enabled: (context) => (name, way) => context.decisions.way(String(name), way as Way),
  },
  reopenDecision: { enabled: (context) => () => context.decisions.reopen() },
  nextHunk: { enabled: (context) => () => step(context, 1) },
  previousHunk: { enabled: (context) => () => step(context, -1) },
  showHunk: aboutOne((context, about) => {
    const hunk = hunkOf(context, about);
    return hunk && context.navigation.go(hunk, undefined, undefined, true);
  }),
  openHunk: aboutOne((context, about) => {
    const hunk = hunkOf(context, about);
    return hunk && context.navigation.go(hunk);
  }),
  reopenHunk: aboutOne((context, about) => {
    const hunk = hunkOf(context, about);
    return hunk && context.decisions.reopenHunk(hunk.entry);
  }),
  revealInTree,
  compare,
  showHistory: { enabled: () => () => vscode.commands.executeCommand(`${HISTORY}.focus`) },
  reviewAll: { enabled: (context) => () => context.reviewAll.open() },
  showOneAgent: { enabled: (context) => () => showOneAgent(context) },
  showStatus,
  restart: always((context) => () => context.sidecar.restart()),
  showLog: always((context) => () => context.log.show(true)),
  explainFailure: always((context) => () => context.explainFailure()),
  setUpAgent: always((context) => () => setUpAgent(context.sidecar)),
  openWalkthrough: always(
    () => () =>
      vscode.commands.executeCommand(
        "workbench.action.openWalkthrough",
        "hashline.hashline#hashline.start",
        false,
      ),
  ),
};

/** Told instead of a command that needs the sidecar. */
async function notRunning(context: Context): Promise<void> {
  if (context.sidecar.state.kind === "failed") {
    return context.explainFailure();
  }
  const starting = context.sidecar.state.kind === "starting";
  const sentence = `Hashline: the sidecar ${starting ? "is starting" : "is not running"}.`;
  if ((await vscode.window.showWarningMessage(sentence, "Restart")) === "Restart") {
    await context.sidecar.restart();
  }
}

export function registerCommands(context: Context): vscode.Disposable {
  const registered = Object.entries(COMMANDS).map(([name, { enabled, disabled }]) => {
    const whileRunning = enabled(context);
    const otherwise = disabled?.(context) ?? (() => notRunning(context));
    return vscode.commands.registerCommand(`hashline.${name}`, (...args: unknown[]) =>
      context.sidecar.state.kind === "running" ? whileRunning(...args) : otherwise(...args),
    );
  });
  return vscode.Disposable.from(...registered);
}
