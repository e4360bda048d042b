/**
 * Which documents are being saved that were saved before: from VS Code's word that it is about to, until they are saved or closed, or
 * have unsaved changes.
 */
import * as vscode from "vscode";

/** VS Code does not tell extensions of a save that is cancelled: that counts as under way until one of these. */
export class Saves implements vscode.Disposable {
  private readonly underWay = new Set<string>();
  private readonly listening = vscode.Disposable.from(
    vscode.workspace.onWillSaveTextDocument(({ document }) => {
      if (!document.isDirty) {
        this.underWay.add(document.uri.toString());
      }
    }),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.isDirty) {
        this.isOver(document);
      }
    }),
    vscode.workspace.onDidSaveTextDocument((document) => this.isOver(document)),
    vscode.workspace.onDidCloseTextDocument((document) => this.isOver(document)),
  );

  has({ uri }: vscode.TextDocument): boolean {
    return this.underWay.has(uri.toString());
  }

  private isOver({ uri }: vscode.TextDocument): void {
    this.underWay.delete(uri.toString());
  }

  dispose(): void {
    this.listening.dispose();
  }
}
