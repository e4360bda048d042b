import assert from "node:assert/strict";
import { test } from "node:test";
import type { Decisions } from "../src/decisions";
import { Navigation } from "../src/navigation";
import type { Sidecar } from "../src/sidecar";
import { ContextKeys } from "../src/views/contextKeys";
import { edit, hunk, list, reviewOf } from "./fixtures";
import { sent } from "./vscode";

const never = () => ({ dispose: () => undefined });

test("the keys for a hunk hold before it is said that one is at it", async () => {
  const review = reviewOf(list([edit("a", [hunk({ lines: { start: 4, end: 5 } })])]));
  const navigation = new Navigation(review, { placesIn: () => undefined, show: async () => undefined });
  const decisions = { onDidChange: never, canReopen: false } as unknown as Decisions;
  const sidecar = { onDidChangeState: never, state: { kind: "running" } } as unknown as Sidecar;
  new ContextKeys(review, navigation, decisions, { isInFront: false }, sidecar);
  sent.length = 0;
  await navigation.step(1);
  assert.deepEqual(
    sent.filter((one) => /hunkAtCursor|^hunk/.test(one)),
    ["setContext hashline.hunkAtCursor held", "hunk 1 of 1, a.js line 5, 1 line replaced, held, claude-code"],
  );
});
