import assert from "node:assert/strict";
import { test } from "node:test";
import { edit, hunk, list, reviewOf } from "./fixtures";

const KEY = "file:///p/a.js";
const linesOf = (review: ReturnType<typeof reviewOf>) => review.of(KEY)?.entries.map((entry) => entry.lines);
const one = (start: number) => [edit("a", [hunk({ lines: { start, end: start + 1 } })])];
const lineAbove = { first: 0, last: 0, newLast: 1 };

test("hunks move with the typing until the next list", () => {
  const review = reviewOf(list(one(4)));
  review.changed(KEY, 2, [lineAbove]);
  review.changed(KEY, 3, [lineAbove]);
  assert.deepEqual(linesOf(review), [{ start: 6, end: 7 }]);
});

test("a list for an older version is brought to the text as it is now", () => {
  const review = reviewOf(list(one(4)));
  review.changed(KEY, 2, [lineAbove]);
  review.changed(KEY, 3, [lineAbove]);
  review.receive(list(one(5), { version: 2 }));
  assert.deepEqual(linesOf(review), [{ start: 6, end: 7 }]);
});

test("a list that is older than the one shown is passed over", () => {
  const review = reviewOf(list(one(4), { version: 3 }));
  review.receive(list([], { version: 2 }));
  assert.deepEqual(linesOf(review), [{ start: 4, end: 5 }]);
});

test("versions count anew when a document is opened again", () => {
  const review = reviewOf(list(one(4), { version: 30 }));
  review.closed(KEY);
  review.opened(KEY);
  review.receive(list(one(9), { version: 1 }));
  assert.deepEqual(linesOf(review), [{ start: 9, end: 10 }]);
});

test("after more changes than are kept, an old list leaves hunks where they were shown", () => {
  const review = reviewOf(list(one(4)));
  for (let version = 2; version < 1200; version++) {
    review.changed(KEY, version, [lineAbove]);
  }
  review.receive(list(one(4), { version: 1 }));
  assert.deepEqual(linesOf(review), [{ start: 1202, end: 1203 }]);
});

test("an empty list takes the document away, and listeners hear of it", () => {
  const review = reviewOf(list(one(4)));
  const heard: number[] = [];
  review.subscribe((document) => heard.push(document.entries.length));
  review.receive(list(one(5), { version: 2 }));
  review.receive(list([], { version: 3 }));
  assert.deepEqual(heard, [1, 0]);
  assert.equal(review.of(KEY), undefined);
  assert.deepEqual(review.all(), []);
});

test("what follows is called in a turn of its own, and once for all that a document has changed", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const review = reviewOf();
  const heard: string[] = [];
  for (const who of ["a", "b"]) {
    review.follow(({ uri, version }) => heard.push(`${who} ${uri} ${version}`));
  }
  const gone = review.follow(() => heard.push("gone"));
  review.opened(KEY);
  review.receive(list(one(4)));
  review.receive(list(one(4), { version: 2 }));
  review.receive(list(one(4), { version: 1, uri: "file:///p/b.js" }));
  gone.dispose();
  assert.deepEqual(heard, []);
  context.mock.timers.tick(1);
  assert.deepEqual(heard.splice(0), [`a ${KEY} 2`, "a file:///p/b.js 1"]);
  context.mock.timers.tick(1);
  assert.deepEqual(heard.splice(0), [`b ${KEY} 2`, "b file:///p/b.js 1"]);
  context.mock.timers.tick(10);
  assert.deepEqual(heard, []);
});

test("a change of many lines moves hunks as its parts do one by one", () => {
  const review = reviewOf(
    list([
      edit(
        "a",
        [1, 5, 9].map((start, n) => hunk({ number: n, lines: { start, end: start + 1 } })),
      ),
    ]),
  );
  // From the end, as VS Code tells of it.
  review.changed(KEY, 2, [
    { first: 9, last: 10, newLast: 12 },
    { first: 5, last: 5, newLast: 6 },
    { first: 0, last: 1, newLast: 1 },
    { first: 0, last: 1, newLast: 0 },
  ]);
  assert.deepEqual(linesOf(review), [
    { start: 0, end: 1 },
    { start: 5, end: 6 },
    { start: 9, end: 12 },
  ]);
});

test("what a sidecar said is forgotten with it", () => {
  const review = reviewOf(list(one(4)), list(one(2), { uri: "file:///p/b.js", version: null }));
  const heard: string[] = [];
  review.subscribe((document) => heard.push(document.key));
  review.forget();
  assert.deepEqual(heard.sort(), [KEY, "file:///p/b.js"]);
  assert.deepEqual(review.all(), []);
});

test("a hunk is found by its name, and documents come in order", () => {
  const review = reviewOf(list(one(4), { uri: "file:///p/z.js" }), list(one(2)));
  assert.deepEqual(
    review.all().map((document) => document.key),
    [KEY, "file:///p/z.js"],
  );
  assert.equal(review.find("a:1")?.entry.hunk.number, 1);
  assert.equal(review.find("a:2"), undefined);
  review.receive(list([edit("a", [hunk({ number: 2 })])], { version: 2 }));
  assert.equal(review.find("a:2")?.document.version, 2);
  review.closed(KEY);
  assert.equal(review.find("a:2")?.document.version, null);
});
