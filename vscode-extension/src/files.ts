/** Files, whichever machine they are on. */
import * as vscode from "vscode";

/** Whether there is something under this name. */
export async function isThere(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
