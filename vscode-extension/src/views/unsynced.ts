/** Files that VS Code does not show to extensions, because they are too large: agents cannot work on their text in the editor. */
import * as vscode from "vscode";

/** What VS Code tells extensions of at most. */
const MOST_BYTES = 50 * 1024 * 1024;

export class UnsyncedFile implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[];
  private said: string | undefined;
  private looks = 0;
  readonly onDidChange = this.changed.event;

  constructor() {
    this.disposables = [this.changed, vscode.window.tabGroups.onDidChangeTabs(() => void this.look())];
    void this.look();
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  /** What is to be said of the file in front; none where all is well. */
  get sentence(): string | undefined {
    return this.said;
  }

  private async look(): Promise<void> {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    const uri = input instanceof vscode.TabInputText && input.uri.scheme === "file" ? input.uri : undefined;
    this.looks += 1;
    const look = this.looks;
    const said = uri && (await isTooLarge(uri)) ? sentenceFor(uri) : undefined;
    // A slow answer about a file that was in front is not one about the file that is.
    if (look === this.looks && said !== this.said) {
      this.said = said;
      this.changed.fire();
    }
  }
}

async function isTooLarge(uri: vscode.Uri): Promise<boolean> {
  if (vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString())) {
    return false;
  }
  try {
    return (await vscode.workspace.fs.stat(uri)).size > MOST_BYTES;
  } catch {
    return false; // it is gone
  }
}

function sentenceFor(uri: vscode.Uri): string {
  const name = vscode.workspace.asRelativePath(uri);
  return `VS Code does not show files over 50 MB to extensions: agents see ${name} as it was saved last, and change it on the disk.`;
}
