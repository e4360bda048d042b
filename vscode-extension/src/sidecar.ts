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
import { config } from "./config";
import { deliver } from "./delivery";
import { ended, type Failure, mismatched, missing, notStarted } from "./failure";
import { lineChangesOf } from "./lineChanges";
import { type Found, locate } from "./locator";
import { OpenDocuments } from "./openDocuments";
import {
  type Announcement,
  type Decide,
  type Decided,
  type PendingEdits,
  PROTOCOL,
  type ProposedTextResult,
  type Status,
  type Undo,
} from "./protocol";
import type { Review } from "./review/model";

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
  readonly documents = new OpenDocuments(
    (document) => this.close(document),
    (error) => this.log.error(reasonOf(error)),
  );

  readonly onDidChangeState = this.changed.event;

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
    this.changed.dispose();
  }

  decide(decision: Decide): Promise<Decided> {
    return this.running().sendRequest<Decided>("hashline/decide", decision);
  }

  proposedText(uri: string): Promise<ProposedTextResult> {
    return this.running().sendRequest<ProposedTextResult>("hashline/proposedText", { uri });
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
    const located = this.locate();
    if ("missing" in located) {
      this.become({ kind: "failed", failure: missing(located.missing) });
      return;
    }
    const { found } = located;
    this.become({ kind: "starting", found });
    const client = this.clientFor(found);
    this.client = client;
    client.onNotification("hashline/pendingEdits", (list: PendingEdits) => this.review.receive(list));
    client.onDidChangeState(({ newState }) => {
      if (this.client === client) {
        this.clientBecame(client, found, newState);
      }
    });
    try {
      await withLimit(client.start(), START_MS);
    } catch (error) {
      await this.stopNow();
      const reason =
        error instanceof Late ? `no answer within ${START_MS / 1000} s` : "it ended without an answer";
      this.log.debug(reasonOf(error));
      this.become({ kind: "failed", failure: notStarted(found.path, reason) });
    }
  }

  private clientBecame(client: LanguageClient, found: Found, state: ClientState): void {
    if (state !== ClientState.Running) {
      this.review.forget();
      this.documents.reset();
      return;
    }
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
    const client = this.client;
    this.client = undefined;
    this.review.forget();
    this.documents.reset();
    if (this.current.kind !== "stopped") {
      this.become({ kind: "stopped" });
    }
    try {
      await client?.dispose(2000);
    } catch (error) {
      this.log.debug(`the sidecar was not stopped in good order: ${reasonOf(error)}`);
    }
  }

  /** The sidecar has ended without having been asked to. */
  private endedByItself(found: Found): { action: CloseAction; handled: boolean } {
    if (this.current.kind !== "running") {
      return { action: CloseAction.DoNotRestart, handled: true }; // it never started: that is told where it was started
    }
    const now = Date.now();
    this.ends = [...this.ends.filter((end) => now - end < ENDS_MS), now];
    if (this.ends.length < MOST_ENDS) {
      this.log.warn(`the sidecar ended by itself; it is started again (${this.ends.length})`);
      this.become({ kind: "starting", found });
      return { action: CloseAction.Restart, handled: true };
    }
    const failure = ended(this.ends.length);
    void this.stop().then(() => this.become({ kind: "failed", failure }));
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private clientFor(found: Found): LanguageClient {
    const editor = `${vscode.env.appName} ${vscode.version}`;
    const log =
      vscode.LogLevel.Off < this.log.logLevel && this.log.logLevel <= vscode.LogLevel.Debug
        ? "debug"
        : "warn";
    const command = {
      command: found.path,
      args: ["lsp", "--editor", editor],
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
        closed: () => this.endedByItself(found),
      },
      middleware: {
        ...this.documents.middleware,
        didChange: (event, next) => this.told(event, next),
        // The lenses of this extension say more.
        provideCodeLenses: () => [],
        workspace: {
          configuration: (params) =>
            params.items.map(({ section }) => (section === "hashline" ? config.forSidecar() : null)),
          handleApplyEdit: (params, next) =>
            deliver(params, async (edit) => (await next(edit, NEVER)) as { applied: boolean }),
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
    const { document, reason } = event;
    if (!this.documents.has(document.uri)) {
      await this.documents.changed(document);
      return;
    }
    this.review.changed(document.uri.toString(), document.version, lineChangesOf(event.contentChanges));
    if (reason !== undefined && this.client) {
      const kind = reason === vscode.TextDocumentChangeReason.Undo ? "undo" : "redo";
      const uri = this.client.code2ProtocolConverter.asUri(document.uri);
      const mark: Undo = { uri, kind };
      // Not waited for: it goes out first, as both go the same way.
      this.client.sendNotification("hashline/undo", mark).catch((error) => this.log.debug(reasonOf(error)));
    }
    await next(event);
  }
}

/** The sidecar does not take its edits back. */
const NEVER = new vscode.CancellationTokenSource().token;

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

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
