/** hashline: agents edit the text that is in the editor; the person decides about each edit. */
import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { Context } from "./context";
import type { ReviewDocument } from "./review/model";
import type { Plan } from "./review/plan";
import type { Node } from "./review/tree";
import type { SidecarState } from "./sidecar";

/** What tests look at: VS Code does not tell what is drawn. */
export interface HashlineApi {
  state(): SidecarState;
  documents(): ReviewDocument[];
  drawn(editor: vscode.TextEditor): Plan | undefined;
  tree(): Node[];
  history(): Node[];
  statusBar(): { text: string; tooltip: string } | undefined;
  health(): string;
}

let context: Context | undefined;

export function activate(extensionContext: vscode.ExtensionContext): HashlineApi | undefined {
  const active = new Context(extensionContext.extension);
  context = active;
  extensionContext.subscriptions.push(active, registerCommands(active));
  // Not waited for: the window is usable meanwhile.
  void active.sidecar.start();
  if (extensionContext.extensionMode !== vscode.ExtensionMode.Test) {
    return undefined; // other extensions have no part in it
  }
  return {
    state: () => active.sidecar.state,
    documents: () => active.review.all(),
    drawn: (editor) => active.decorations.planOf(editor),
    tree: () => active.tree.getChildren(),
    history: () => active.fileHistory.getChildren(),
    statusBar: () => active.statusBar.shown,
    health: () => active.statusBar.saidOfHealth,
  };
}

export async function deactivate(): Promise<void> {
  await context?.sidecar.stop();
  context = undefined;
}
