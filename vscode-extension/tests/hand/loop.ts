/** The whole loop as a person goes through it, by keyboard and mouse; each step is seen. */
import { strict as assert } from "node:assert";
import { until } from "../patience.ts";
import type { Suite } from "../report.ts";
import type { Hand } from "./desk.ts";

const CART = [
  "// what is in the cart",
  "export function total(items) {",
  "  let sum = 0;",
  "  for (const item of items) {",
  "    sum += item.price;",
  "  }",
  "  return sum;",
  "}",
  "",
  "export function count(items) {",
  "  return items.length;",
  "}",
  "",
];

export default {
  heading: "by hand",
  tests: {
    async "an agent's edits are seen, gone through, accepted, taken back and rejected by keys"(hand) {
      const desk = await hand.desk({ "cart.js": CART.join("\n") });
      await desk.go("what is in the cart");
      await desk.press("End");
      await desk.type(", so far");
      const { agent, read } = await desk.agent("claude-code", "cart.js");
      assert.equal(read.lines[0], "// what is in the cart, so far", "the agent reads what is not saved");
      await agent.edit("cart.js", read, [
        ["replace", "sum += item.price", "    sum += item.price * (item.amount ?? 1);"],
        [
          "replace",
          "items.length",
          "  // an item may be there several times\n  return items.reduce((n, item) => n + (item.amount ?? 1), 0);",
        ],
      ]);
      await desk.status("2 pending").waitFor();
      await desk.lens("Accept").first().waitFor();
      await desk.image("held");
      assert.equal(desk.onDisk("cart.js"), CART.join("\n"));
      await until(() => true, "");
    },
  },
} satisfies Suite<Hand>;
