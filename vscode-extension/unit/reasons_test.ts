import assert from "node:assert/strict";
import { test } from "node:test";
import { askReason, repliesTo } from "../src/reasons";
import { person } from "./vscode";

const asked = async (typed: string, label: string | undefined) => {
  person.typed = typed;
  person.choose = (items) => items.find((item) => item.label === label);
  return askReason("Reject 1 hunk");
};

test("quick replies, and what is typed first of all", async () => {
  assert.deepEqual(
    repliesTo("").map(({ label }) => label),
    ["Wrong approach", "Not here", "Type…"],
  );
  assert.deepEqual(
    repliesTo(" use a constant ").map(({ label }) => label),
    ["use a constant", "Wrong approach", "Not here"],
  );
  assert.equal(await asked("", "Wrong approach"), "wrong approach");
  assert.equal(await asked("use a constant", "use a constant"), "use a constant");
});

test("what is to be typed is asked for; what is left is no reason", async () => {
  person.typed = "";
  assert.equal(await asked("", "Type…"), undefined, "nothing was typed");
  assert.equal(await asked("", undefined), undefined);
});

test("who types fast has said what they typed", async (context) => {
  person.isFast = true;
  context.after(() => {
    person.isFast = false;
  });
  assert.equal(await asked("the prices are whole", undefined), "the prices are whole");
});
