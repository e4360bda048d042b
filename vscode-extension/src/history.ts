/**
 * What the history says of files that were changed themselves: what one that was removed had in it, and what one with another name was called.
 *
 * The lists of the sidecar do not say it, and where the change was made at once nothing else is left that could. It is asked of the program
 * only for what is shown.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { trust } from "./pinnedBinary";
import type { Sidecar } from "./sidecar";

const LONGEST_MS = 20_000;
/** A file of this size is not looked at in a comparison. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The text of a file, from a patch that removes all of it. */
export function removedBy(patch: string): string {
  const lines = patch.split("\n");
  const from = lines.findIndex((line) => line.startsWith("@@"));
  if (from < 0) {
    return "";
  }
  const body = lines.slice(from + 1);
  const removed = body.filter((line) => line.startsWith("-")).map((line) => line.slice(1));
  const isEnded = !body.some((line) => line.startsWith("\\"));
  return removed.join("\n") + (isEnded ? "\n" : "");
}

/** The path that a patch gives another name to, below the folder of the history. Not one with signs that a patch writes otherwise. */
export function renamedBy(patch: string): string | undefined {
  return /^rename from ([^"].*)$/m.exec(patch)?.[1];
}

/** So many patches are kept: they may be large. */
const MOST_KEPT = 20;

/** Edits as patches. What is in one does not change, so it is kept for a while. */
export class History {
  private readonly patches = new Map<string, Promise<string>>();

  constructor(private readonly sidecar: Sidecar) {}

  patchOf(uri: vscode.Uri, edit: string): Promise<string> {
    const known = this.patches.get(edit);
    if (known) {
      return known;
    }
    const asked = this.ask(uri, edit);
    this.patches.set(edit, asked);
    asked.catch(() => this.patches.delete(edit));
    const [oldest] = this.patches.keys();
    if (oldest !== undefined && this.patches.size > MOST_KEPT) {
      this.patches.delete(oldest);
    }
    return asked;
  }

  private async ask(uri: vscode.Uri, edit: string): Promise<string> {
    const { state } = this.sidecar;
    if (state.kind !== "running") {
      throw new Error("the sidecar is not running");
    }
    const trusted = await trust(state.found);
    if ("refused" in trusted) {
      throw new Error(trusted.refused);
    }
    try {
      const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri ?? vscode.Uri.joinPath(uri, "..");
      const args = [...trusted.args, "diff", "--workspace", folder.fsPath, "export", edit];
      const options = { timeout: LONGEST_MS, maxBuffer: MOST_BYTES };
      return (await promisify(execFile)(trusted.command, args, options)).stdout;
    } finally {
      await trusted.close();
    }
  }
}
