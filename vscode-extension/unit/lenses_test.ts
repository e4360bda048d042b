import assert from "node:assert/strict";
import { test } from "node:test";
import type * as vscode from "vscode";
import type { Hunk } from "../src/protocol";
import { Lenses } from "../src/views/lenses";
import { edit, hunk, list, reviewOf } from "./fixtures";
import { Uri, workspace } from "./vscode";

test("VS Code is told later that lenses are others, once for lists that come together, and at once that there are none", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const document = { uri: Uri.parse("file:///p/a.js"), lineCount: 10, lineAt: () => ({ text: "line" }) };
  workspace.textDocuments.push(document);
  const review = reviewOf(list([]));
  const lenses = new Lenses(review);
  let told = 0;
  lenses.onDidChangeCodeLenses(() => told++);
  const titles = () =>
    lenses.provideCodeLenses(document as unknown as vscode.TextDocument).map(({ command }) => command?.title);
  const receive = (...hunks: Hunk[]) => review.receive(list([edit("e", hunks)]));

  receive(hunk());
  receive(hunk(), hunk({ number: 2, lines: { start: 4, end: 5 } }));
  assert.equal(told, 0, "there is other work in this turn");
  context.mock.timers.tick(2);
  assert.equal(told, 1);
  assert.deepEqual(
    titles(),
    [1, 2].flatMap((n) => [`claude-code · +1 −1 · #${n} · 2 left`, "Accept", "Reject", "Compare"]),
  );

  receive(hunk(), hunk({ number: 2, lines: { start: 4, end: 5 } }));
  context.mock.timers.tick(2);
  assert.equal(told, 1, "all of it is shown");

  receive(hunk({ deciding: true }), hunk({ number: 2, lines: { start: 4, end: 5 } }));
  context.mock.timers.tick(2);
  assert.equal(told, 2, "one is being decided");

  receive(hunk({ deciding: true }), hunk({ number: 2, lines: { start: 5, end: 6 } }));
  context.mock.timers.tick(2);
  assert.equal(told, 3, "one is elsewhere");

  const many = Array.from({ length: 100 }, (_, n) => hunk({ number: n, lines: { start: n, end: n } }));
  receive(...many);
  context.mock.timers.tick(99);
  assert.equal(told, 3, "more are waited for longer");
  context.mock.timers.tick(1);
  assert.equal(told, 4);

  titles();
  receive(...many.map((one) => ({ ...one, deciding: true })));
  receive();
  assert.equal(told, 5, "all are decided");
  assert.deepEqual(titles(), []);
  context.mock.timers.tick(250);
  assert.equal(told, 5, "what was shown of them in between is past");

  receive(hunk());
  lenses.dispose();
  context.mock.timers.tick(250);
  assert.equal(told, 5, "nobody is told any more");
});
