/**
 * A window with unsaved work is loaded anew while an agent is at work. With HASHLINE_STARTING=0,1,3,6 the agent's calls come after these
 * seconds, and two busy programs take what they can of the machine.
 */
import { strict as assert } from "node:assert";
import { type ChildProcess, spawn } from "node:child_process";
import type { Agent } from "../agent.ts";
import { pause, until, within } from "../patience.ts";
import type { Suite } from "../report.ts";
import { AMOUNTS, CART } from "./cart.ts";
import type { Hand } from "./desk.ts";

const given = process.env.HASHLINE_STARTING;
const DELAYS = (given ?? "0,1").split(",").map(Number);

function others(): ChildProcess[] {
  const count = given === undefined ? 0 : 2;
  return Array.from({ length: count }, () => spawn("sh", ["-c", "while :; do :; done"]));
}

/** Edits what it reads: between the two it may be somebody else who answers. */
async function edits(agent: Agent): Promise<void> {
  let refused: unknown;
  await until(
    async () => {
      try {
        return await agent.edit("cart.js", await agent.read("cart.js"), AMOUNTS);
      } catch (error) {
        refused = error;
        return undefined;
      }
    },
    () => `the agent edits: ${refused}`,
  );
}

async function comesBack(hand: Hand, delay: number): Promise<void> {
  const desk = await hand.desk({ "cart.js": CART });
  await desk.go("what is in the cart");
  await desk.press("End");
  await desk.type(", so far");
  const { agent } = await desk.agent("claude-code", "cart.js", "so far");
  assert.deepEqual(hand.marks(), []);
  const marked = within(60_000, "to say that the window is starting", hand.nextMark());
  await Promise.all([marked, desk.reload(), pause(delay * 1000).then(() => edits(agent))]);
  await until(() => hand.marks().length === 0, "and that it has started");
  await desk.line("so far").first().waitFor();
  await desk.status("2 in ").waitFor();
  await desk.lens("Accept").nth(1).waitFor();
  assert.equal(await desk.lens("Keep").count(), 0, "nothing is said to be in the text");
  assert.equal(await desk.line("(item.amount ?? 1);").count(), 0, "and nothing is");
  await desk.go("what is in the cart");
  await desk.press("Alt+F5");
  await desk.said("hunk 1 of 2").waitFor();
  await desk.press("Control+Shift+Enter");
  await desk.line("sum += item.price * (item.amount ?? 1);").waitFor();
  await desk.line("so far").first().waitFor();
  await desk.status("1 in ").waitFor();
}

export default {
  heading: "starting",
  tests: Object.fromEntries(
    DELAYS.map((delay) => [
      `a call ${delay} s after a window with unsaved work is loaded anew is offered in that work`,
      async (hand: Hand) => {
        const busy = others();
        try {
          await comesBack(hand, delay);
        } finally {
          for (const other of busy) other.kill("SIGKILL");
        }
      },
    ]),
  ),
} satisfies Suite<Hand>;
