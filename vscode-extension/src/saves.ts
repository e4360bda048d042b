/**
 * Which documents are being saved that were saved before: from VS Code's word that it is about to, until the save is done, or what formats
 * the document has made it unsaved.
 */
import * as vscode from "vscode";

/** VS Code does not tell extensions of a save that fails. One that had nothing to write counts as under way until the document changes. */
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
