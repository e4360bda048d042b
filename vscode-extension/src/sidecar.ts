/** The life of the sidecar: finding it, starting it, ending it, and what is said to it and by it. */
import * as vscode from "vscode";
import {
  State as ClientState,
  CloseAction,
  DidCloseTextDocumentNotification,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import { Deliverer } from "./applyDelivery";
import { causeOf } from "./causes";
import { config } from "./config";
import { ended, type Failure, mismatched, missing, notStarted, reasonOf, untrusted } from "./failure";
import { lineChangesOf } from "./lineChanges";
import { type Found, locate } from "./locator";
import { OpenDocuments } from "./openDocuments";
import { type Trusted, trust } from "./pinnedBinary";
import {
  type Announcement,
  type Cause,
  type Decide,
  type Decided,
  decide,
  type HistoryResult,
  type PendingEdits,
  PROTOCOL,
  type ProposedTextResult,
  type Status,
  VALUES,
  type Waiting,
} from "./protocol";
import type { Review } from "./review/model";
import { Saves } from "./saves";
import { mark } from "./startingMark";

export type SidecarState =
  | { kind: "stopped" }
  | { kind: "starting"; found: Found }
  | { kind: "running"; found: Found; version: string }
  | { kind: "failed"; failure: Failure };

/** The client's own toasts say less than what this extension says itself; the log has them. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** A program that does not answer is no sidecar. */
const START_MS = 15_000;
/** It is started again this often within this time. */
const MOST_ENDS = 4;
const ENDS_MS = 180_000;

export class Sidecar implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private current: SidecarState = { kind: "stopped" };
  private readonly changed = new vscode.EventEmitter<SidecarState>();
  /** Starts and stops follow one another. */
  private last: Promise<void> = Promise.resolve();
  private ends: number[] = [];
  /** Carries out the sidecar's own commands. */
  private carryOut: ((said: Decide) => Promise<void>) | undefined;
  private readonly deliverer = new Deliverer();
  private readonly saves = new Saves();
  readonly documents = new OpenDocuments(
    (document) => this.close(document),
    (error) => this.log.error(reasonOf(error)),
  );

  readonly onDidChangeState = this.changed.event;

  private readonly waitingChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeWaiting = this.waitingChanged.event;
  private waiting: readonly string[] = [];

  /** The agents that wait for decisions. */
  get waitingAgents(): readonly string[] {
    return this.waiting;
  }

  private waits(agents: readonly string[]): void {
    this.waiting = agents;
    this.waitingChanged.fire();
  }

  constructor(
    private readonly extension: vscode.Extension<unknown>,
    private readonly log: vscode.LogOutputChannel,
    private readonly review: Review,
  ) {
    this.documents.onOpened((document) => review.opened(document.uri.toString()));
    this.documents.onClosed((document) => review.closed(document.uri.toString()));
  }

  get state(): SidecarState {
    return this.current;
  }

  /** The binary, running or not. */
  locate(): ReturnType<typeof locate> {
    return locate({
      configured: config.binary(),
      hash: config.binaryHash(),
      extensionPath: this.extension.extensionPath,
      env: process.env,
      platform: process.platform,
    });
  }

  start(): Promise<void> {
    return this.inTurn(() => this.startNow());
  }

  stop(): Promise<void> {
    return this.inTurn(() => this.stopNow());
  }

  restart(): Promise<void> {
    return this.inTurn(async () => {
      this.ends = [];
      await this.stopNow();
      await this.startNow();
    });
  }

  dispose(): void {
    this.documents.dispose();
    this.saves.dispose();
    this.changed.dispose();
    this.waitingChanged.dispose();
  }

  /** Who carries out the commands that the sidecar puts into code actions: a decision is made in one way, wherever it comes from. */
  commandsGoTo(carryOut: (said: Decide) => Promise<void>): void {
    this.carryOut = carryOut;
  }

  decide(decision: Decide): Promise<Decided> {
    return this.running().sendRequest<Decided>("hashline/decide", decision);
  }

  async proposedText(uri: string): Promise<ProposedTextResult> {
    const proposed = await this.running().sendRequest<ProposedTextResult>("hashline/proposedText", { uri });
    if (!Array.isArray(proposed.places)) {
      // Guessed places would put the person's lines elsewhere.
      throw new Error("this hashline is too old for comparisons that can be edited: update the program");
    }
    return proposed;
  }

  /** All edits of a document, decided ones too. */
  history(uri: string): Promise<HistoryResult> {
    return this.running().sendRequest<HistoryResult>("hashline/history", { uri });
  }

  status(): Promise<Status> {
    return this.running().sendRequest<Status>("hashline/status");
  }

  private running(): LanguageClient {
    if (!this.client || this.current.kind !== "running") {
      throw new Error("the sidecar is not running");
    }
    return this.client;
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const next = this.last.then(work);
    this.last = next.catch(() => undefined);
    return next;
  }

  private become(state: SidecarState): void {
    this.current = state;
    if (state.kind === "failed") {
      this.log.error(state.failure.sentence);
    } else if (state.kind === "running") {
      this.log.info(`the sidecar ${state.version} runs: ${state.found.path}, from ${state.found.source}`);
    }
    this.changed.fire(state);
  }

  private async startNow(): Promise<void> {
    if (this.client) {
      return;
    }
    const unmark = this.mark();
    try {
      await this.startMarked();
      await this.knowsDocuments();
    } finally {
      unmark();
    }
  }

  /** Waits until the sidecar, if it runs, has taken in the documents that were open when it started: it answers after that. */
  private async knowsDocuments(): Promise<void> {
    if (this.current.kind !== "running") {
      return;
    }
    try {
      await withLimit(this.status(), START_MS);
    } catch (error) {
      this.log.debug(`the sidecar did not say how it stands: ${reasonOf(error)}`);
    }
  }

  /** Lets agents wait. What cannot be marked starts as well. */
  private mark(): () => void {
    const folders = vscode.workspace.workspaceFolders ?? [];
    try {
      return mark(folders.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath));
    } catch (error) {
      this.log.debug(`agents do not wait for this editor: ${reasonOf(error)}`);
      return () => undefined;
    }
  }

  private async startMarked(): Promise<void> {
    const located = this.locate();
    if ("missing" in located) {
      this.become({ kind: "failed", failure: missing(located.missing) });
      return;
    }
    const { found } = located;
    this.become({ kind: "starting", found });
    const trusted = await trust(found);
    if ("refused" in trusted) {
      this.become({ kind: "failed", failure: untrusted(trusted.refused) });
      return;
    }
    if (trusted.told !== undefined) {
      void vscode.window.showWarningMessage(`hashline: ${trusted.told}`);
    }
    const client = this.clientFor(found, trusted);
    this.client = client;
    client.onNotification("hashline/pendingEdits", (list: PendingEdits) => this.review.receive(list));
    client.onNotification("hashline/waiting", ({ agents }: Waiting) => this.waits(agents));
    client.onDidChangeState(({ newState }) => {
      if (this.client === client && newState !== ClientState.Running) {
        this.review.forget();
        this.documents.reset();
        this.waits([]);
      }
    });
    try {
      await withLimit(client.start(), START_MS);
      this.started(client, found);
    } catch (error) {
      await this.stopNow();
      const reason =
        error instanceof Late ? `no answer within ${START_MS / 1000} s` : "it ended without an answer";
      this.log.debug(reasonOf(error));
      this.become({ kind: "failed", failure: notStarted(found.path, reason) });
    } finally {
      await trusted.close();
    }
  }

  /** It runs from here on, and not from its first answer: until then the end of the process is a start that failed. */
  private started(client: LanguageClient, found: Found): void {
    const result = client.initializeResult;
    const version = result?.serverInfo?.version ?? "of no known version";
    const said: Announcement | undefined = result?.capabilities.experimental?.hashline;
    if (said?.protocol === PROTOCOL) {
      this.become({ kind: "running", found, version });
    } else {
      const failure = mismatched(found.path, version, said?.protocol);
      void this.stop().then(() => this.become({ kind: "failed", failure }));
    }
  }

  private async stopNow(): Promise<void> {
    const ended = this.endClient();
    if (this.current.kind !== "stopped") {
      this.become({ kind: "stopped" });
    }
    await ended;
  }

  private async endClient(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.review.forget();
    this.documents.reset();
    this.waits([]);
    try {
      await client?.dispose(2000);
    } catch (error) {
      this.log.debug(`the sidecar was not stopped in good order: ${reasonOf(error)}`);
    }
  }

  /** The sidecar has ended without having been asked to. It is started again as at first: so it is told where that fails. */
  private endedByItself(found: Found): void {
    if (this.current.kind !== "running") {
      return; // it never started: that is told where it was started
    }
    const now = Date.now();
    this.ends = [...this.ends.filter((end) => now - end < ENDS_MS), now];
    if (this.ends.length < MOST_ENDS) {
      this.log.warn(`the sidecar ended by itself; it is started again (${this.ends.length})`);
      this.become({ kind: "starting", found });
      void this.inTurn(async () => {
        await this.endClient();
        await this.startNow();
      });
      return;
    }
    const failure = ended(this.ends.length);
    void this.stop().then(() => this.become({ kind: "failed", failure }));
  }

  private clientFor(found: Found, trusted: Trusted): LanguageClient {
    const editor = `${vscode.env.appName} ${vscode.version}`;
    const log =
      vscode.LogLevel.Off < this.log.logLevel && this.log.logLevel <= vscode.LogLevel.Debug
        ? "debug"
        : "warn";
    const command = {
      command: trusted.command,
      args: [...trusted.args, "lsp", "--editor", editor],
      options: { env: { HASHLINE_LOG: log, ...process.env } },
    };
    const client = new QuietClient("hashline", "Hashline", command, this.optionsFor(found));
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        const announcement: Announcement = {
          protocol: PROTOCOL,
          version: String(this.extension.packageJSON.version),
        };
        capabilities.experimental = { ...capabilities.experimental, hashline: announcement };
      },
      initialize: () => undefined,
      getState: () => ({ kind: "static" }),
      clear: () => undefined,
    });
    return client;
  }

  private optionsFor(found: Found): LanguageClientOptions {
    return {
      // Notebooks have a scheme of their own for their cells, and are left alone.
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
      initializationOptions: () => ({ hashline: config.forSidecar() }),
      outputChannel: this.log,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.endedByItself(found);
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      middleware: {
        ...this.documents.middleware,
        didChange: (event, next) => this.told(event, next),
        // The lenses of this extension say more.
        provideCodeLenses: () => [],
        provideCodeActions: async (document, range, context, token, next) =>
          commandsOnly(await next(document, range, context, token)),
        executeCommand: (command, args, next) => {
          const choice = CHOICES.find((candidate) => command === `hashline.${candidate}`);
          return choice && this.carryOut
            ? this.carryOut(decide({ ...args[0], decision: choice }))
            : next(command, args);
        },
        workspace: {
          configuration: (params) =>
            params.items.map(({ section, scopeUri }) =>
              section === "hashline"
                ? config.forSidecar(scopeUri ? vscode.Uri.parse(scopeUri) : undefined)
                : null,
            ),
          // The client would look at each of hundreds of edits several times, and wait in between.
          handleApplyEdit: (params) => this.deliverer.carryOut(params),
        },
      },
    };
  }

  private async close(document: vscode.TextDocument): Promise<void> {
    const client = this.client;
    await client?.sendNotification(
      DidCloseTextDocumentNotification.type,
      client.code2ProtocolConverter.asCloseTextDocumentParams(document),
    );
  }

  private async told(
    event: vscode.TextDocumentChangeEvent,
    next: (event: vscode.TextDocumentChangeEvent) => Promise<void>,
  ): Promise<void> {
    const { document } = event;
    if (!this.documents.has(document.uri)) {
      await this.documents.changed(document);
      return;
    }
    this.review.changed(document.uri.toString(), document.version, lineChangesOf(event.contentChanges));
    const said = causeOf(event, this.deliverer.changed(event), this.saves.has(document));
    if (said && this.client) {
      const uri = this.client.code2ProtocolConverter.asUri(document.uri);
      const cause: Cause = { uri, version: document.version, ...said };
      // Not waited for: it goes out first, as both go the same way.
      this.client.sendNotification("hashline/cause", cause).catch((error) => this.log.debug(reasonOf(error)));
    }
    await next(event);
  }
}

/** VS Code would make the edit of an action by itself, and nothing would tell that it was one. Its command decides, and brings the edit. */
function commandsOnly(actions: (vscode.Command | vscode.CodeAction)[] | null | undefined) {
  for (const action of actions ?? []) {
    if ("edit" in action) {
      delete action.edit;
    }
  }
  return actions;
}

/** The decisions that the sidecar has commands for. */
const CHOICES = VALUES["hashline/decide.decision"];

class Late extends Error {}

async function withLimit<T>(work: Promise<T>, limit: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late()), limit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
