import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { isOpenElsewhere } from "../src/otherEditors";
import { trust } from "../src/pinnedBinary";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "trusted-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const says = (words: string) => `#!/bin/sh\necho ${words} "$@"\n`;
const hashOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

function program(text: string, ...parts: string[]): string {
  const file = path.join(folder, ...parts);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o700);
  return file;
}

const source = "the setting hashline.binary";
const look = (file: string, hash: string) => trust({ path: file, source, hash }, path.join(folder, "kept"));

const openFiles = () =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return execFileSync("readlink", [`/proc/${process.pid}/fd/${fd}`], { stdio: "pipe" })
        .toString()
        .startsWith(folder);
    } catch {
      return false;
    }
  }).length;

test("a program without a pinned hash is started as it is", async () => {
  const trusted = await trust({ path: "/b/hashline", source });
  assert.ok("command" in trusted);
  assert.deepEqual([trusted.command, trusted.args], ["/b/hashline", []]);
});

test("the file that was hashed is started, whatever takes its name meanwhile", async () => {
  const file = program(says("good"), "hashline");
  const trusted = await look(file, hashOf(says("good")));
  assert.ok("command" in trusted && trusted.told === undefined);
  renameSync(program(says("bad"), "other"), file);
  const ran = execFileSync(trusted.command, [...trusted.args, "lsp"]).toString();
  assert.equal(ran, `good package verify-binary ${file} --hash ${hashOf(says("good"))} --run -- lsp\n`);
  await trusted.close();
  assert.equal(openFiles(), 0);
});

test("a tampered program is not started, and it is said what was expected, what is there and where it comes from", async () => {
  const file = program(says("bad"), "hashline");
  const [expected, actual] = [hashOf(says("good")), hashOf(says("bad"))];
  const trusted = await look(file, expected);
  assert.ok("refused" in trusted);
  for (const part of [file, expected, actual, "the setting hashline.binary", "not started"]) {
    assert.ok(trusted.refused.includes(part), trusted.refused);
  }
  assert.equal(openFiles(), 0);
});

test("a tampered program is asked nothing about other editors", async () => {
  const started = path.join(folder, "started");
  const file = program(`#!/bin/sh\n>'${started}'\necho '{"sidecars": []}'\n`, "hashline");
  assert.equal(await isOpenElsewhere({ path: file, source }, "/socket"), false);
  rmSync(started);
  await assert.rejects(isOpenElsewhere({ path: file, source, hash: hashOf("") }, "/socket"), /not started/);
  assert.equal(existsSync(started), false);
});

test("the last good one runs instead, if it is as it was", async () => {
  const file = program(says("bad"), "hashline");
  const expected = hashOf(says("good"));
  const kept = program(says("good"), "kept", expected.slice(7), "hashline");
  const trusted = await look(file, expected);
  assert.ok("command" in trusted);
  assert.match(trusted.told ?? "", /expected sha256:.*actual sha256:.*the last good one runs instead/i);
  assert.match(execFileSync(trusted.command, [...trusted.args]).toString(), new RegExp(`^good .* ${kept} `));
  await trusted.close();
  writeFileSync(kept, says("worse"));
  assert.ok("refused" in (await look(file, expected)));
});

test("what cannot be compared is not started", async () => {
  const file = program(says("good"), "hashline");
  for (const hash of ["", "good", hashOf("").slice(7), hashOf("").toUpperCase()]) {
    const trusted = await look(file, hash);
    assert.ok("refused" in trusted && trusted.refused.includes("64 digits"), hash);
  }
  const gone = await look(path.join(folder, "gone"), hashOf(""));
  assert.ok("refused" in gone && gone.refused.includes("ENOENT"));
});
