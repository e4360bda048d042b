import assert from "node:assert/strict";
import { test } from "node:test";
import { textIn } from "../src/causes";

const bytes = (text: string) => new TextEncoder().encode(text);

test("a file is read as VS Code reads it: without its byte-order mark, and with the ending of most lines", () => {
  const cases = [
    ["", ""],
    ["one line", "one line"],
    ["\ufeffmarked\n", "marked\n"],
    ["a\nb\n", "a\nb\n"],
    ["a\r\nb\r\n", "a\r\nb\r\n"],
    ["a\r\nb\r\nc\n", "a\r\nb\r\nc\r\n"],
    ["a\r\nb\n", "a\nb\n"],
    ["a\rb\r", "a\r\nb\r\n"],
    ["ünï 🦀\n", "ünï 🦀\n"],
  ];
  for (const [written, shown] of cases) {
    assert.equal(textIn(bytes(written ?? "")), shown);
  }
});
