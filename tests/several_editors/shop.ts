/** The project that both editors have open: each test has files of its own in it, all with the same text. */
import type { Operation } from "../../vscode-extension/tests/agent.ts";
import { CART } from "../../vscode-extension/tests/hand/cart.ts";

export { CART };

/** Only what is really there is counted. */
export const COUNTED: readonly Operation[] = [
  ["replace", "items.length", "  return items.filter(Boolean).length;"],
];

export const WITH_COUNTED = CART.replace("items.length", "items.filter(Boolean).length");

/** An item may be there several times. */
export const AMOUNTS: readonly Operation[] = [
  ["replace", "sum += item.price", "    sum += item.price * item.amount;"],
];
