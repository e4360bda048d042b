/** The project of the tests by hand, which the pictures show. */
import type { Operation } from "../agent.ts";

const lines = (...text: string[]) => `${text.join("\n")}\n`;

export const CART = lines(
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
);

export const PRICE = lines("export function format(price) {", '  return price + " EUR";', "}");

/** An item may be there several times: what the agent does about it. */
export const AMOUNTS: readonly Operation[] = [
  ["replace", "sum += item.price", "    sum += item.price * (item.amount ?? 1);"],
  [
    "replace",
    "items.length",
    "  const amounts = items.map((item) => item.amount ?? 1);\n  return amounts.reduce((all, amount) => all + amount, 0);",
  ],
];

export const ROUNDED: readonly Operation[] = [["replace", "EUR", "  return `${price.toFixed(2)} EUR`;"]];

/** A file that an agent makes. */
export const TAX = lines("export function tax(price) {", "  return price * 0.2;", "}");
