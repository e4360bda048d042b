import assert from "node:assert/strict";
import { test } from "node:test";
import type { TextDocument } from "vscode";
import { OpenDocuments } from "../src/openDocuments";
import { TabInputText, tabs } from "./vscode";

const document = (uri: string) =>
  ({ uri: { toString: () => uri }, isDirty: false }) as unknown as TextDocument;

/** A sidecar that takes its time to hear of an opening. */
function listening() {
  const said: string[] = [];
  const waiting: (() => void)[] = [];
  const open = (opened: TextDocument) => {
    said.push(`open ${opened.uri}`);
    return new Promise<void>((over) => waiting.push(over));
  };
  const close = async (closed: TextDocument) => void said.push(`close ${closed.uri}`);
  const documents = new OpenDocuments(close, assert.ifError);
  /** Lets it hear, again and again until nothing more comes. */
  const hears = async () => {
    for (let over = waiting.shift(); over; over = waiting.shift()) {
      over();
      await new Promise(setImmediate);
    }
  };
  return { documents, said, open, close, hears };
}

const show = (...uris: string[]) => {
  tabs.inputs = uris.map((uri) => new TabInputText({ toString: () => uri }));
  tabs.changed.fire();
};

test("a document is opened once, however often tabs change while one is waited for", async () => {
  const { documents, said, open, hears } = listening();
  show();
  for (const uri of ["a", "b"]) {
    await documents.middleware.didOpen?.(document(uri), open);
  }
  show("a", "b");
  show("a", "b");
  await hears();
  assert.deepEqual(said, ["open a", "open b"]);
  documents.dispose();
});

test("one that is closed while another is waited for is not opened", async () => {
  const { documents, said, open, close, hears } = listening();
  show();
  const [a, b] = [document("a"), document("b")];
  for (const one of [a, b]) {
    await documents.middleware.didOpen?.(one, open);
  }
  show("a", "b");
  await documents.middleware.didClose?.(b, close);
  await hears();
  assert.deepEqual(said, ["open a"]);
  documents.dispose();
});

test("without a tab it is closed, and opened again with the next one", async () => {
  const { documents, said, open, hears } = listening();
  show("a");
  void documents.middleware.didOpen?.(document("a"), open);
  await hears();
  show();
  await hears();
  show("a");
  await hears();
  assert.deepEqual(said, ["open a", "close a", "open a"]);
  documents.dispose();
});
