/**
 * Carries out what the sidecar asks of the texts and files: exactly, as one undo step, or not at all.
 *
 * VS Code closes the undo step before and after an edit that does not come from the keyboard, and leaves the cursor where it was; it
 * refuses an edit that was made for another version. Files are renamed or removed only where nothing can be lost by it.
 */
import * as vscode from "vscode";
import type { ApplyWorkspaceEditParams, ApplyWorkspaceEditResult } from "vscode-languageclient/node";
import { config } from "./config";
import { isThere } from "./files";

type Apply = (params: ApplyWorkspaceEditParams) => PromiseLike<ApplyWorkspaceEditResult>;

interface FileOperation {
  uri: vscode.Uri;
  newUri?: vscode.Uri;
}

const refused = (failureReason: string): ApplyWorkspaceEditResult => ({ applied: false, failureReason });

function openDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  const key = uri.toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === key);
}

export async function deliver(
  params: ApplyWorkspaceEditParams,
  apply: Apply,
): Promise<ApplyWorkspaceEditResult> {
  const { operations, documents, reason } = read(params);
  if (reason !== undefined) {
    return refused(reason);
  }
  for (const operation of operations) {
    const why = await whyNot(operation);
    if (why !== undefined) {
      return refused(why);
    }
  }
  const wereDirty = new Set(documents.filter((document) => document.isDirty));
  const result = await apply(params);
  if (result.applied && params.label?.startsWith("Accept ")) {
    // What goes in without the person's word, or comes out, is not saved for them. The answer does not wait for it, as a formatter may
    // take longer than the sidecar waits.
    setImmediate(() => {
      for (const document of documents) {
        void saveAfter(document, wereDirty.has(document));
      }
    });
  }
  return result;
}

/** What an edit is about, or why it is not for here. */
function read(params: ApplyWorkspaceEditParams): {
  operations: FileOperation[];
  documents: vscode.TextDocument[];
  reason?: string;
} {
  const operations: FileOperation[] = [];
  const documents: vscode.TextDocument[] = [];
  for (const change of params.edit.documentChanges ?? []) {
    if ("kind" in change) {
      if (change.kind === "create") {
        return { operations, documents, reason: "only renaming and removing are done here" };
      }
      operations.push(
        change.kind === "rename"
          ? { uri: vscode.Uri.parse(change.oldUri), newUri: vscode.Uri.parse(change.newUri) }
          : { uri: vscode.Uri.parse(change.uri) },
      );
      continue;
    }
    const { uri, version } = change.textDocument;
    const document = openDocument(vscode.Uri.parse(uri));
    if (!document) {
      return { operations, documents, reason: `${uri} is not open here` };
    }
    if (version !== null && version !== document.version) {
      const reason = `made for version ${version} of ${uri}, which is at version ${document.version}`;
      return { operations, documents, reason };
    }
    documents.push(document);
  }
  return { operations, documents };
}

/** Why a file is not renamed or removed. */
async function whyNot({ uri, newUri }: FileOperation): Promise<string | undefined> {
  if (openDocument(uri)?.isDirty) {
    return "it has changes that are not saved; save it first";
  }
  if (!(await isThere(uri))) {
    return "it is not on the disk";
  }
  if (newUri && (await isThere(newUri))) {
    return `${newUri.fsPath} is there already`;
  }
  if (newUri && openDocument(newUri)) {
    return `another document is called ${newUri.fsPath}`;
  }
  return undefined;
}

async function saveAfter(document: vscode.TextDocument, wasDirty: boolean): Promise<void> {
  const wish = config.saveAfterAccept(document.uri);
  if (!document.isUntitled && document.isDirty && (wish === "always" || (wish === "ifClean" && !wasDirty))) {
    if (!(await document.save())) {
      const name = vscode.workspace.asRelativePath(document.uri);
      void vscode.window.showWarningMessage(
        `Hashline: what you accepted in ${name} was not saved. Save it yourself.`,
      );
    }
  }
}
