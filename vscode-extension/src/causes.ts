/** What brought a change about, where it was not typing: only what VS Code or the file says, never what the clock suggests. */
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import type { Cause } from "./protocol";

/**
 * Asked while VS Code tells of the change: then the document is as the change has made it. `isSaving`: it is being saved.
 *
 * VS Code does not tell extensions that the person settles a difference between the text and the file. To overwrite the file changes no text,
 * and to revert is to read it again.
 */
export function causeOf(
  { document, reason }: vscode.TextDocumentChangeEvent,
  delivery: number | undefined,
  isSaving: boolean,
): Pick<Cause, "cause" | "delivery"> | undefined {
  if (reason !== undefined) {
    const cause = reason === vscode.TextDocumentChangeReason.Undo ? "undo" : "redo";
    return { cause, delivery: null };
  }
  if (delivery !== undefined) {
    return { cause: "delivery", delivery };
  }
  // What is formatted while it is saved may be told of when the file has it already.
  return !isSaving && isReadAgain(document) ? { cause: "reload", delivery: null } : undefined;
}

/**
 * Whether a text that has just changed was read from its file.
 *
 * While VS Code tells of a change, a document may still be said to be saved because it was before. One that was, and has the file's text after
 * the change, has it from there: what the person changes in it is not in the file yet.
 */
function isReadAgain(document: vscode.TextDocument): boolean {
  if (document.isDirty || document.uri.scheme !== "file" || !document.encoding.startsWith("utf8")) {
    return false;
  }
  try {
    return textIn(readFileSync(document.uri.fsPath)) === document.getText();
  } catch {
    return false; // it is not there, or cannot be read
  }
}

/** The text of a file in UTF-8, as VS Code shows it: all lines end as most of them do. */
export function textIn(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  const endings = text.match(/\r\n|\r|\n/g) ?? [];
  const returns = endings.filter((ending) => ending !== "\n").length;
  return text.replace(/\r\n|\r|\n/g, returns > endings.length / 2 ? "\r\n" : "\n");
}
