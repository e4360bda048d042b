/** The addresses of the two sides of a comparison. */
import * as vscode from "vscode";
import type { ReviewDocument } from "../review/model";

/** Of the text with the held hunks in it. */
export const PROPOSED = "hashline-proposed";
/** Of the text without the hunks that are in it. */
export const BASE = "hashline-base";

/** Of nothing: beside the text of a file that is removed. */
export const NOTHING = "hashline-nothing";

/**
 * The address of a side. Its path gives it a name and a language: the one in the workspace, as that is shown.
 *
 * @param file the path that it is shown under, where that is another one than the document's
 */
export function addressOf(scheme: string, document: ReviewDocument, file?: string): vscode.Uri {
  const path = vscode.workspace.asRelativePath(file ?? vscode.Uri.parse(document.uri));
  return vscode.Uri.from({ scheme, path: path.startsWith("/") ? path : `/${path}`, query: document.uri });
}

/** The document that an address belongs to. */
export function documentUri(address: vscode.Uri): vscode.Uri {
  return [PROPOSED, BASE, NOTHING].includes(address.scheme) ? vscode.Uri.parse(address.query) : address;
}

/** The same under one spelling. */
export function keyOf(address: vscode.Uri): string {
  return documentUri(address).toString();
}

/** The key of the document in front, whichever side of a comparison that is. */
export function keyInFront(): string | undefined {
  const address = vscode.window.activeTextEditor?.document.uri;
  return address && keyOf(address);
}

/** The addresses of this kind that are open for a document: several where the folders of the window changed meanwhile. */
export function shownFor(scheme: string, key: string): vscode.Uri[] {
  return vscode.workspace.textDocuments
    .map(({ uri }) => uri)
    .filter((uri) => uri.scheme === scheme && keyOf(uri) === key);
}
