/** What the extension consists of while it is active: everything is made and ended here. */
import * as vscode from "vscode";
import { registerMcpServer } from "./agents/mcp";
import { Decisions } from "./decisions";
import { HELP_WORDS, type Help, reasonOf } from "./failure";
import { History } from "./history";
import { Navigation } from "./navigation";
import { isOpenElsewhere } from "./otherEditors";
import { Review } from "./review/model";
import { Sidecar } from "./sidecar";
import { Badges } from "./views/badges";
import { Compare } from "./views/compare";
import { ContextKeys } from "./views/contextKeys";
import { Decorations } from "./views/decorations";
import { FileHistory } from "./views/fileHistory";
import { FileNames } from "./views/fileNames";
import { Lenses } from "./views/lenses";
import { Notice } from "./views/notice";
import { ReviewAll } from "./views/reviewAll";
import { ByHand } from "./views/solveByHand";
import { StatusBar } from "./views/statusBar";
import { saying } from "./views/statusMessage";
import { ReviewTree } from "./views/tree";
import { UnsyncedFile } from "./views/unsynced";
import { WindowWatch } from "./windowWatch";

export class Context implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("Hashline", { log: true });
  readonly review = new Review((uri) => vscode.Uri.parse(uri).toString());
  readonly sidecar: Sidecar;
  readonly navigation = new Navigation(this.review, {
    placesIn: (document) => this.compare.placesIn(document),
    show: async ({ document, entry }) => {
      if (entry.hunk.file !== null || !(await this.compare.open(document, entry))) {
        await this.tree.reveal(entry.name);
      }
    },
  });
  readonly decisions: Decisions;
  readonly compare: Compare;
  readonly reviewAll: ReviewAll;
  readonly tree: ReviewTree;
  readonly fileHistory: FileHistory;
  readonly decorations: Decorations;
  readonly lenses: Lenses;
  readonly statusBar: StatusBar;
  private readonly disposables: vscode.Disposable[] = [];

  constructor(extension: vscode.Extension<unknown>) {
    const { review, navigation } = this;
    const version = String(extension.packageJSON.version);
    const own = <T extends vscode.Disposable>(part: T): T => {
      this.disposables.push(part);
      return part;
    };
    const failed = (error: unknown) => this.log.warn(reasonOf(error));
    own(this.log);
    own(review);
    own(saying);
    this.sidecar = own(new Sidecar(extension, this.log, review));
    const history = new History(this.sidecar);
    const names = own(new FileNames(review, history, failed));
    const byHand = own(new ByHand(review, navigation));
    this.fileHistory = own(new FileHistory(review, this.sidecar));
    const find = (name: string) => review.find(name) ?? this.fileHistory.find(name);
    this.decisions = own(new Decisions(review, find, this.sidecar, (name) => byHand.open(name)));
    this.sidecar.commandsGoTo((said) => this.decisions.command(said));
    own(this.navigation);
    this.compare = own(new Compare(review, this.sidecar, this.decisions, new History(this.sidecar), failed));
    this.reviewAll = own(new ReviewAll(review, this.compare, this.decisions, this.sidecar, failed));
    // Before what shows hunks in the text: keys hold for all that is seen.
    own(new ContextKeys(review, navigation, this.decisions, this.reviewAll, this.sidecar));
    this.tree = own(new ReviewTree(review, names));
    this.decorations = own(new Decorations(extension.extensionUri, review));
    this.lenses = own(new Lenses(review));
    own(new Badges(review));
    this.statusBar = own(new StatusBar(review, this.sidecar, own(new UnsyncedFile())));
    own(new Notice(review, names));
    own(registerMcpServer(this.sidecar, version));
    own(this.windowWatch());
    own(this.sidecar.onDidChangeState((state) => state.kind === "failed" && void this.explainFailure()));
    own(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (["hashline.binary", "hashline.binaryHash"].some((name) => event.affectsConfiguration(name))) {
          void this.sidecar.restart();
        }
      }),
    );
  }

  private windowWatch(): WindowWatch {
    const { sidecar, log } = this;
    return new WindowWatch(
      {
        // A command of the window's own that does nothing.
        askWindow: () => vscode.commands.executeCommand("noop"),
        isOpenElsewhere: async () => {
          if (sidecar.state.kind !== "running") {
            return false;
          }
          const { socket } = await sidecar.status();
          return socket !== null && (await isOpenElsewhere(sidecar.state.found, socket));
        },
        leave: () => {
          log.info(
            "the window does not answer, and another editor has a file of it open: the sidecar is ended",
          );
          return sidecar.stop();
        },
        comeBack: () => {
          log.info("the window is back: the sidecar is started again");
          return sidecar.start();
        },
      },
      (error) => log.debug(reasonOf(error)),
    );
  }

  /** Why the sidecar does not run, and what helps. VS Code hides what goes wrong in extensions, so it is said here. */
  async explainFailure(): Promise<void> {
    const { state } = this.sidecar;
    if (state.kind !== "failed") {
      return;
    }
    const { sentence, helps } = state.failure;
    const words = helps.map((help) => HELP_WORDS[help]);
    const chosen = await vscode.window.showErrorMessage(sentence, ...words);
    const help = helps.find((candidate) => HELP_WORDS[candidate] === chosen);
    if (help) {
      await this.help(help);
    }
  }

  private async help(help: Help): Promise<void> {
    switch (help) {
      case "setBinary":
        await vscode.commands.executeCommand("workbench.action.openSettings", "hashline.binary");
        break;
      case "restart":
        await this.sidecar.restart();
        break;
      case "showLog":
        this.log.show(true);
    }
  }

  dispose(): void {
    // The last first: views go before what they show.
    for (const disposable of this.disposables.reverse()) {
      disposable.dispose();
    }
  }
}
