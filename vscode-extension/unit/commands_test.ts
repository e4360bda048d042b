import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../src/commands";
import type { Context } from "../src/context";
import { edit, hunk, list, reviewOf } from "./fixtures";
import { person } from "./vscode";

const NAMED = Object.entries(COMMANDS).filter(([name]) =>
  /^(accept|reject|keep|undo)(Hunk|Edit|File|Conversation|Agent)$|WithReason$|^(resolveConflict|compare|openHunk|showHunk)$/.test(
    name,
  ),
);

/** A window whose cursor is on a hunk, and what was done in it. */
function window(): { context: Context; done: string[] } {
  const review = reviewOf(list([edit("a", [hunk()])]));
  const done: string[] = [];
  const does = (what: string) => async () => void done.push(what);
  const context = {
    review,
    navigation: { meant: () => review.find("a:1"), go: does("go") },
    decisions: { decide: does("decide"), resolve: does("resolve") },
    compare: { open: does("compare") },
  };
  person.told = [];
  return { context: context as unknown as Context, done };
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
        "Hashline: the list was being drawn anew, and which of its rows was meant is not known. Nothing was done: press it again.",
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
