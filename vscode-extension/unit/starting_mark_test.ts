import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { mark } from "../src/startingMark";

let folder = "";
beforeEach(() => {
  folder = path.join(mkdtempSync(path.join(tmpdir(), "starting-")), "state", "sidecars");
});
afterEach(() => rmSync(path.dirname(path.dirname(folder)), { recursive: true }));

test("a mark says who is starting, where, and since when", () => {
  const before = Date.now();
  const unmark = mark(["/project", "/other"], folder);
  const [name = "", ...others] = readdirSync(folder);
  assert.deepEqual(others, []);
  assert.match(name, /^[a-z0-9-]{1,64}\.starting$/);
  const file = path.join(folder, name);
  const { started, ...said } = JSON.parse(readFileSync(file, "utf8"));
  assert.deepEqual(said, { pid: process.pid, host: hostname(), roots: ["/project", "/other"] });
  assert.ok(Number.isInteger(started) && before <= started && started <= Date.now());
  assert.deepEqual([statSync(file).mode & 0o777, statSync(folder).mode & 0o777], [0o600, 0o700]);
  unmark();
  unmark();
  assert.deepEqual(readdirSync(folder), []);
});

test("marks of one editor are apart from each other", () => {
  const first = mark(["/project"], folder);
  const second = mark(["/project"], folder);
  first();
  assert.equal(readdirSync(folder).length, 1);
  second();
  assert.equal(readdirSync(folder).length, 0);
});

test("without a folder there is nothing to mark", () => {
  mark([], folder)();
  assert.throws(() => readdirSync(folder));
});
