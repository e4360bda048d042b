/**
 * Carries out what the sidecar asks of the texts and files: exactly, as one undo step, or not at all.
 *
 * VS Code closes the undo step before and after an edit that does not come from the keyboard, and leaves the cursor where it was; it
 * refuses an edit that was made for another version. Files are renamed or removed only where nothing can be lost by it.
 */
import * as vscode from "vscode";
import {
  type ApplyWorkspaceEditParams,
  type ApplyWorkspaceEditResult,
  TextEdit,
} from "vscode-languageclient/node";
import { config } from "./config";
import { isThere } from "./files";
import { Deliveries, type Delivery, guards, linesPut, textWith } from "./matchDelivery";

/** What the sidecar asks for. A delivery has a number; an operation on a file has none. */
type Asked = ApplyWorkspaceEditParams & { delivery?: number };

interface FileOperation {
  uri: vscode.Uri;
  newUri?: vscode.Uri;
}

interface TextOperation {
  document: vscode.TextDocument;
  edits: readonly TextEdit[];
}

interface Latest {
  version: number;
  changes: readonly vscode.TextDocumentContentChangeEvent[];
}

/** The description of an edit that VS Code is to make as it is. */
const AS_IT_IS = "hashline";
const BEGINNING = { line: 0, character: 0 };

const refused = (failureReason: string): ApplyWorkspaceEditResult => ({ applied: false, failureReason });

const keyOf = (document: vscode.TextDocument): string => document.uri.toString();

function openDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  const key = uri.toString();
  return vscode.workspace.textDocuments.find((document) => keyOf(document) === key);
}

export class Deliverer {
  private readonly deliveries = new Deliveries();
  /** What made each document what it is at a version. */
  private readonly latest = new WeakMap<vscode.TextDocument, Latest>();

  /** A document has changed: the number of the delivery that did it. */
  changed({ document, contentChanges }: vscode.TextDocumentChangeEvent): number | undefined {
    this.latest.set(document, { version: document.version, changes: contentChanges });
    return this.deliveries.changed(keyOf(document), () => document.getText());
  }

  async carryOut(asked: Asked): Promise<ApplyWorkspaceEditResult> {
    const operations = operationsIn(asked);
    if (typeof operations === "string") {
      return refused(operations);
    }
    for (const operation of operations) {
      const why = await whyNot(operation);
      if (why !== undefined) {
        return refused(why);
      }
    }
    // Nothing is waited for between the look at the texts and the asking.
    const texts = textsIn(asked);
    if (typeof texts === "string") {
      return refused(texts);
    }
    const wereDirty = new Set(texts.map(({ document }) => document).filter((document) => document.isDirty));
    const result: ApplyWorkspaceEditResult = (await this.made(asked, texts, operations))
      ? { applied: true }
      : refused("VS Code did not make the edit; the text may have changed meanwhile");
    if (result.applied && asked.label?.startsWith("Accept ")) {
      // What goes in without the person's word, or comes out, is not saved for them. The answer does not wait for it, as a formatter may
      // take longer than the sidecar waits.
      setImmediate(() => {
        for (const { document } of texts) {
          void saveAfter(document, wereDirty.has(document));
        }
      });
    }
    return result;
  }

  /** Has the edits made. Says whether they were. */
  private async made(
    asked: Asked,
    texts: readonly TextOperation[],
    operations: readonly FileOperation[],
  ): Promise<boolean> {
    const { delivery: number } = asked;
    const deliveryOf = ({ document, edits }: TextOperation, number: number): Delivery => ({
      number,
      document: keyOf(document),
      text: textWith(document.getText(), edits, endingOf(document)),
    });
    const deliveries = number === undefined ? [] : texts.map((text) => deliveryOf(text, number));
    for (const delivery of deliveries) {
      this.deliveries.begin(delivery);
    }
    try {
      return await vscode.workspace.applyEdit(this.exactly(asked, texts, operations));
    } finally {
      // VS Code tells of the change before it answers.
      for (const delivery of deliveries) {
        this.deliveries.end(delivery);
      }
    }
  }

  /**
   * Has VS Code make the edits alone, and only for the version that they are for.
   *
   * An edit with a description is made as it is. The others are cut down to what differs, which takes a while, and older ones of VS Code forget
   * their version over it: the last one tells it again, and changes nothing.
   */
  private exactly(
    { label }: Asked,
    texts: readonly TextOperation[],
    operations: readonly FileOperation[],
  ): vscode.WorkspaceEdit {
    const edit = new vscode.WorkspaceEdit();
    const asItIs = { label: label ?? AS_IT_IS, needsConfirmation: false };
    for (const { document, edits } of texts.filter(({ edits }) => edits.length > 0)) {
      const more = [...guards(this.newBlankLines(document), edits), TextEdit.insert(BEGINNING, "")];
      edit.set(document.uri, [
        ...edits.map((one): [vscode.TextEdit, undefined] => [textEditOf(one), undefined]),
        ...more.map((one): [vscode.TextEdit, vscode.WorkspaceEditEntryMetadata] => [textEditOf(one), asItIs]),
      ]);
    }
    for (const { uri, newUri } of operations) {
      if (newUri) {
        edit.renameFile(uri, newUri);
      } else {
        edit.deleteFile(uri);
      }
    }
    return edit;
  }

  /** The lines of white space that the latest change has left. */
  private newBlankLines(document: vscode.TextDocument): { line: number; text: string }[] {
    const latest = this.latest.get(document);
    const put = latest?.version === document.version ? linesPut(latest.changes) : [];
    return put
      .filter((line) => line < document.lineCount)
      .map((line) => ({ line, text: document.lineAt(line).text }))
      .filter(({ text }) => text !== "" && text.trim() === "");
  }
}

function endingOf(document: vscode.TextDocument): string {
  return document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
}

function textEditOf({ range: { start, end }, newText }: TextEdit): vscode.TextEdit {
  return new vscode.TextEdit(new vscode.Range(start.line, start.character, end.line, end.character), newText);
}

/** The operations on files, or why they are not for here. */
function operationsIn({ edit }: Asked): FileOperation[] | string {
  const operations: FileOperation[] = [];
  for (const change of edit.documentChanges ?? []) {
    if (!("kind" in change)) {
      continue;
    }
    if (change.kind === "create") {
      return "only renaming and removing are done here";
    }
    operations.push(
      change.kind === "rename"
        ? { uri: vscode.Uri.parse(change.oldUri), newUri: vscode.Uri.parse(change.newUri) }
        : { uri: vscode.Uri.parse(change.uri) },
    );
  }
  return operations;
}

/** The edits of texts, which come before operations on files, or why they are not for here. */
function textsIn({ edit }: Asked): TextOperation[] | string {
  const texts: TextOperation[] = [];
  for (const change of edit.documentChanges ?? []) {
    if ("kind" in change) {
      continue;
    }
    const { uri, version } = change.textDocument;
    const document = openDocument(vscode.Uri.parse(uri));
    if (!document) {
      return `${uri} is not open here`;
    }
    if (version !== null && version !== document.version) {
      return `made for version ${version} of ${uri}, which is at version ${document.version}`;
    }
    const edits = change.edits.filter((one) => "newText" in one);
    if (edits.length < change.edits.length) {
      return "only plain edits are made here";
    }
    texts.push({ document, edits });
  }
  return texts;
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
