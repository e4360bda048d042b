/** The file of most tests, and what the agent of most tests does to it. */
import type { Operation } from "../agent.ts";

export const FILE = [
  "function greet(name) {",
  '  return "Hello, " + name;',
  "}",
  "",
  "function farewell(name) {",
  '  return "Bye, " + name;',
  "}",
  "",
  'greet("world");',
  "// the end",
] as const;

/** On the disk, without a final newline. */
export const SAVED = FILE.join("\n");

/** Lines of a text replaced: from, up to, and what stands there then. Those further down come first. */
type Change = readonly [from: number, to: number, lines: readonly string[]];

export function changed(lines: readonly string[], ...changes: readonly Change[]): string[] {
  const text = [...lines];
  for (const [from, to, put] of changes) text.splice(from, to - from, ...put);
  return text;
}

/** With unsaved work in its first and last line, which is what an agent gets to read. */
export const UNSAVED = changed(FILE, [9, 10, ["// the end, nearly"]], [0, 0, ["// a draft"]]);

/** Three places in one call. */
export const THREE: readonly Operation[] = [
  ["replace", "Hello", "  return `Hello, ${name}!`;"],
  ["replace", "Bye", "  const bye = `Bye, ${name}.`;\n  return bye;"],
  ["insert_after", 'greet("world")', 'farewell("world");'],
];

const [HELLO, BYE, CALL] = [
  ["  return `Hello, ${name}!`;"],
  ["  const bye = `Bye, ${name}.`;", "  return bye;"],
  ['farewell("world");'],
];

/** The unsaved text with some of the three. */
export function withHunks(...numbers: readonly (1 | 2 | 3)[]): string[] {
  const all: Record<1 | 2 | 3, Change> = { 1: [2, 3, HELLO], 2: [6, 7, BYE], 3: [10, 10, CALL] };
  return changed(UNSAVED, ...([3, 2, 1] as const).filter((n) => numbers.includes(n)).map((n) => all[n]));
}
