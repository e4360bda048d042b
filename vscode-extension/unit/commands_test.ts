import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../src/commands";
import type { Context } from "../src/context";
import type { Subject } from "../src/decisions";
import { edit, hunk, list, reviewOf } from "./fixtures";
import { person, sent } from "./vscode";

const NAMED = Object.entries(COMMANDS).filter(([name]) =>
  /^(accept|reject|keep|undo)(Hunk|Edit|File|Conversation|Agent)$|WithReason$|^(resolveConflict|compare|openHunk|showHunk)$/.test(
    name,
  ),
);

/** A window whose cursor is on a hunk, and what was done in it. */
function window(onlyAgent?: string): { context: Context; done: string[]; decided: Subject[] } {
  const review = reviewOf(
    list([edit("a", [hunk()]), edit("b", [hunk()], { agent: "codex", conversation: "other" })]),
  );
  const decided: Subject[] = [];
  const done: string[] = [];
  const does = (what: string) => async () => void done.push(what);
  const context = {
    review,
    navigation: { meant: () => review.find("a:1"), go: does("go") },
    decisions: {
      decide: async (subject: Subject) => {
        done.push("decide");
        decided.push(subject);
      },
      resolve: does("resolve"),
    },
    tree: { onlyAgent },
    compare: { open: does("compare") },
  };
  person.told = [];
  return { context: context as unknown as Context, done, decided };
}

test("a row that VS Code has forgotten is none at the cursor: nothing is done, and that is said", async () => {
  assert.equal(NAMED.length, 26);
  for (const [name, { enabled }] of NAMED) {
    const { context, done } = window();
    // As VS Code calls: about the row, and about the rows that are selected with it.
    await enabled(context)(undefined, undefined);
    assert.deepEqual(done, [], name);
    assert.deepEqual(
      person.told,
      [
        "Hashline: the list was being redrawn, so it is not clear which row you meant. Nothing was done: press it again.",
      ],
      name,
    );
  }
});

test("called about nothing, a command goes by the cursor", async () => {
  const { context, done } = window();
  await COMMANDS.acceptHunk?.enabled(context)();
  assert.deepEqual(done, ["decide"]);
  assert.deepEqual(person.told, []);
});

test("the list's own buttons are about all of it, whichever row has the focus", async () => {
  const { context, done } = window();
  await COMMANDS.acceptAll?.enabled(context)(undefined);
  assert.deepEqual(done, ["decide"]);
});

test("all is what the tree shows: of one agent alone, nothing of another is decided", async () => {
  for (const [only, targets] of [
    [undefined, [{ uri: "file:///p/a.js" }]],
    ["codex", [{ conversation: "other" }]],
  ] as const) {
    const { context, decided } = window(only);
    await COMMANDS.rejectAll?.enabled(context)();
    assert.deepEqual(decided[0]?.targets, targets);
  }
});

test("where there is no hunk, it is said what there is", async () => {
  const { context } = window();
  sent.length = 0;
  await COMMANDS.acceptHunk?.enabled({
    ...context,
    navigation: { meant: () => undefined },
  } as unknown as Context)();
  assert.deepEqual(sent, ["Hashline: No hunk on this line. 2 in 1 other file: Go to Next Hunk"]);
});
