import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryResult } from "../src/protocol";
import type { Sidecar } from "../src/sidecar";
import { FileHistory } from "../src/views/fileHistory";
import { edit, hunk, list, reviewOf } from "./fixtures";
import { EventEmitter, trees, Uri, window } from "./vscode";

const settled = () => new Promise((over) => setTimeout(over, 350));

/** The history of the file in front, and the files that the sidecar was asked for. */
function history() {
  const review = reviewOf();
  const changed = new EventEmitter<void>();
  const asked: string[] = [];
  const sidecar = {
    state: { kind: "running" },
    onDidChangeState: changed.event,
    answer: {
      version: 1,
      owner: null,
      readOnly: false,
      edits: [edit("a", [hunk({ decision: "accepted" })])],
    } as HistoryResult,
    fails: undefined as Error | undefined,
    history: async (uri: string) => {
      asked.push(uri);
      if (sidecar.fails) {
        throw sidecar.fails;
      }
      return sidecar.answer;
    },
  };
  const shown = new FileHistory(review, sidecar as unknown as Sidecar);
  let told = 0;
  shown.onDidChangeTreeData(() => told++);
  const view = trees.last;
  const looks = async (isVisible: boolean) => {
    view.visible = isVisible;
    view.visibility.fire();
    await settled();
  };
  const goes = async (uri: string) => {
    await window.showTextDocument(Uri.parse(uri));
    window.activeChanged.fire(window.activeTextEditor);
    await settled();
  };
  const names = () => shown.getChildren().flatMap(({ entries }) => entries.map(({ name }) => name));
  return { shown, review, sidecar, changed, asked, view, looks, goes, names, told: () => told };
}

test("nothing is asked for before somebody looks, and then the file in front", async () => {
  const { goes, looks, asked, names, view } = history();
  await goes("file:///p/a.js");
  assert.deepEqual(asked, []);
  await looks(true);
  assert.deepEqual([asked, names()], [["file:///p/a.js"], ["a:1"]]);
  assert.deepEqual([view.description, view.message], ["a.js", ""]);
  await goes("file:///p/b.js");
  await goes("output:tasks");
  assert.deepEqual(asked, ["file:///p/a.js", "file:///p/b.js"], "what is no file leaves it as it is");
  await looks(false);
  await goes("file:///p/c.js");
  assert.equal(asked.length, 2);
});

test("it follows the lists of its file, also an empty one, and the sidecar", async () => {
  const { goes, looks, asked, review, sidecar, changed, names } = history();
  await goes("file:///p/a.js");
  await looks(true);
  sidecar.answer = { ...sidecar.answer, edits: [edit("b", [hunk()])] };
  review.receive(list([], { uri: "file:///p/other.js" }));
  await settled();
  assert.equal(asked.length, 1);
  review.receive(list([]));
  await settled();
  assert.deepEqual(names(), ["b:1"]);
  sidecar.state = { kind: "stopped" };
  changed.fire();
  await settled();
  assert.equal(asked.length, 2, "nobody is there to be asked");
});

test("an answer about a file that is not in front any longer is not shown", async () => {
  const { goes, looks, sidecar, asked, names } = history();
  await goes("file:///p/a.js");
  let answer: () => void = () => undefined;
  const slow = new Promise<void>((over) => {
    answer = over;
  });
  const { history: quick } = sidecar;
  sidecar.history = async (uri) => {
    const said = await quick(uri);
    await (uri.endsWith("a.js") ? slow : undefined);
    return uri.endsWith("a.js") ? said : { ...said, edits: [edit("b", [hunk()])] };
  };
  await looks(true);
  await goes("file:///p/b.js");
  assert.deepEqual(names(), []);
  answer();
  await settled();
  assert.deepEqual([asked, names()], [["file:///p/a.js", "file:///p/b.js"], ["b:1"]]);
});

test("a hunk of the history is found by its name", async () => {
  const { goes, looks, shown } = history();
  await goes("file:///p/a.js");
  await looks(true);
  assert.equal(shown.find("a:1")?.document.uri, "file:///p/a.js");
  assert.equal(shown.find("b:1"), undefined);
});

test("rows that are shown already are left as they are", async () => {
  const { goes, looks, review, names, told } = history();
  await goes("file:///p/a.js");
  await looks(true);
  names();
  const before = told();
  review.receive(list([]));
  await settled();
  assert.equal(told(), before);
});

test("while somebody types it is asked for once in a while", async () => {
  const { goes, looks, asked, review } = history();
  await goes("file:///p/a.js");
  await looks(true);
  for (let key = 0; key < 50; key++) {
    review.receive(list([]));
    await new Promise((over) => setTimeout(over, 10));
  }
  await settled();
  assert.ok(asked.length <= 6, `${asked.length} times`);
});

test("why there is nothing is said: no file, no edits, a file that is not served, an older sidecar", async () => {
  window.activeTextEditor = undefined;
  const { goes, looks, sidecar, view, names } = history();
  assert.equal(view.message, "Open a file to see what agents did to it.");
  await looks(true);
  sidecar.answer = { ...sidecar.answer, edits: [] };
  await goes("file:///p/a.js");
  assert.match(view.message ?? "", /^No agent has edited this file/);
  sidecar.fails = Object.assign(new Error("file:///p/b.js is not open and has no edits"), { code: -32_602 });
  await goes("file:///p/b.js");
  assert.deepEqual([names(), view.message], [[], "No history: file:///p/b.js is not open and has no edits."]);
  sidecar.fails = Object.assign(new Error("Method not found"), { code: -32_601 });
  await goes("file:///p/c.js");
  assert.match(view.message ?? "", /older than the extension.*update hashline/);
});
