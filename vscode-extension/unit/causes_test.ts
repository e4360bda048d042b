import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TextDocument, TextDocumentChangeEvent } from "vscode";
import { causeOf, textIn } from "../src/causes";
import { Saves } from "../src/saves";
import { documents } from "./vscode";

const bytes = (text: string) => new TextEncoder().encode(text);

test("a file is read as VS Code reads it: without its byte-order mark, and with the ending of most lines", () => {
  const cases = [
    ["", ""],
    ["one line", "one line"],
    ["\ufeffmarked\n", "marked\n"],
    ["a\nb\n", "a\nb\n"],
    ["a\r\nb\r\n", "a\r\nb\r\n"],
    ["a\r\nb\r\nc\n", "a\r\nb\r\nc\r\n"],
    ["a\r\nb\n", "a\nb\n"],
    ["a\rb\r", "a\r\nb\r\n"],
    ["ünï 🦀\n", "ünï 🦀\n"],
  ];
  for (const [written, shown] of cases) {
    assert.equal(textIn(bytes(written ?? "")), shown);
  }
});

test("a text that its file has after a change was read from there, unless it is being saved", () => {
  const folder = mkdtempSync(join(tmpdir(), "hashline-causes-"));
  const fsPath = join(folder, "a.txt");
  writeFileSync(fsPath, "formatted\n");
  const uri = { scheme: "file", fsPath, toString: () => `file://${fsPath}` };
  const shown = { uri, isDirty: false, encoding: "utf8", getText: () => "formatted\n" };
  const document = shown as unknown as TextDocument;
  const event = { document, reason: undefined } as unknown as TextDocumentChangeEvent;
  const saves = new Saves();
  const cause = () => causeOf(event, undefined, saves.has(document))?.cause;
  assert.equal(cause(), "reload");
  for (const over of [
    () => documents.didSave.fire(document),
    () => documents.didClose.fire(document),
    () => documents.didChange.fire({ document: { uri, isDirty: true } }),
  ]) {
    documents.willSave.fire({ document });
    documents.didChange.fire({ document });
    assert.equal(cause(), undefined, "it is formatted as it is saved");
    over();
    assert.equal(cause(), "reload");
  }
  documents.willSave.fire({ document: { uri, isDirty: true } });
  assert.equal(cause(), "reload", "that save failed, and the person gave up what they had changed");
  saves.dispose();
  documents.willSave.fire({ document });
  assert.equal(cause(), "reload", "nobody listens any more");
  rmSync(folder, { recursive: true });
});
