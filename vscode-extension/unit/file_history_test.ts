import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryResult } from "../src/protocol";
import type { Sidecar } from "../src/sidecar";
import { FileHistory } from "../src/views/fileHistory";
import { edit, hunk, list, reviewOf } from "./fixtures";
import { EventEmitter, trees, Uri, window } from "./vscode";

const settled = () => new Promise((over) => setTimeout(over, 5));

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
  const shown = new FileHistory(review, sidecar as unknown as Sidecar, (error) => assert.fail(String(error)));
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
  return { shown, review, sidecar, changed, asked, view, looks, goes, names };
}

test("nothing is asked for before somebody looks, and then the file in front", async () => {
  const { goes, looks, asked, names, view } = history();
  await goes("file:///p/a.js");
  assert.deepEqual(asked, []);
  await looks(true);
  assert.deepEqual([asked, names()], [["file:///p/a.js"], ["a:1"]]);
  assert.equal(view.description, "a.js");
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

test("a file that is not served has no history, and a sidecar that knows of none is said to be older", async () => {
  const { goes, looks, sidecar, view, names } = history();
  sidecar.fails = Object.assign(new Error("not open"), { code: -32_602 });
  await goes("file:///p/a.js");
  await looks(true);
  assert.deepEqual([names(), view.message], [[], undefined]);
  sidecar.fails = Object.assign(new Error("Method not found"), { code: -32_601 });
  await goes("file:///p/b.js");
  assert.match(view.message ?? "", /older than the extension.*update hashline/);
});
