import assert from "node:assert/strict";
import { test } from "node:test";
import { newsInWords } from "../src/review/news";
import { edit, hunk, list, reviewOf } from "./fixtures";

const names = {
  ofUri: (uri: string) => uri.slice("file:///p/".length),
  ofPath: (path: string) => path.slice(3),
  beforeEdit: () => undefined,
};
const FILE = { lines: null, removed: [], proposed: [] };

/** What is said of hunks in these files, of which this one is in front. */
function said(
  files: Record<string, ReturnType<typeof hunk>[]>,
  here?: string,
  agents = ["claude-code"],
): string {
  const lists = Object.entries(files).map(([name, hunks], n) =>
    list([edit(name, hunks, { agent: agents[n % agents.length] as string })], { uri: `file:///p/${name}` }),
  );
  const news = reviewOf(...lists)
    .all()
    .map((document) => ({ document, fresh: document.entries, isHere: document.uri.endsWith(`/${here}`) }));
  return newsInWords(news, names);
}

test("what is here, what became of files, and what is elsewhere", () => {
  const files = {
    "a.js": [hunk(), hunk({ number: 2 }), hunk({ number: 3 })],
    "b.js": [hunk()],
    "mv.js": [hunk({ ...FILE, file: "rename the file to /p/lib/moved.js" })],
    "new.js": [
      hunk({ ...FILE, file: "make the file", state: "inText" }),
      hunk({ number: 2, state: "inText", removed: [] }),
    ],
  };
  assert.equal(
    said(files, "a.js"),
    "claude-code: 3 hunks here, mv.js → lib/moved.js, new.js created, 1 in b.js.",
  );
  assert.equal(said(files), "claude-code: mv.js → lib/moved.js, new.js created, 3 hunks in a.js, 1 in b.js.");
});

test("what is too much is counted", () => {
  const files = Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [name, [hunk()]]));
  assert.equal(
    said(files, "c", ["x", "y", "z"]),
    "3 agents: 1 hunk here, 1 in a, 1 in b, 1 in d and 2 more.",
  );
});
