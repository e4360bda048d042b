import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { ended, mismatched, missing, notStarted, untrusted } from "../src/failure";
import { locate } from "../src/locator";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "locator-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(...parts: string[]): string {
  const file = path.join(folder, ...parts);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o755);
  return file;
}

const look = (configured = "", hash = "") =>
  locate({
    configured,
    hash,
    extensionPath: path.join(folder, "extension"),
    env: { PATH: [path.join(folder, "none"), path.join(folder, "bin")].join(path.delimiter) },
    platform: "linux",
  });

test("the setting goes before the program that came along, and that before the path", () => {
  const [set, bundled, onPath] = [
    program("mine"),
    program("extension", "server", "hashline"),
    program("bin", "hashline"),
  ];
  writeFileSync(`${bundled}.sha256`, "sha256:packed\n");
  assert.deepEqual(look(set), { found: { path: set, source: "the setting hashline.binary" } });
  assert.deepEqual(look(), { found: { path: bundled, source: "this extension", hash: "sha256:packed" } });
  rmSync(bundled);
  assert.deepEqual(look(), { found: { path: onPath, source: "the path" } });
});

test("the program that came along has the hash that it was packed with, and a hash in the settings goes before it", () => {
  const bundled = program("extension", "server", "hashline");
  writeFileSync(`${bundled}.sha256`, "sha256:packed\n");
  const source = "this extension";
  assert.deepEqual(look(), { found: { path: bundled, source, hash: "sha256:packed" } });
  assert.deepEqual(look("", " sha256:set "), { found: { path: bundled, source, hash: "sha256:set" } });
  rmSync(bundled);
  const onPath = program("bin", "hashline");
  assert.deepEqual(look("", "sha256:set"), {
    found: { path: onPath, source: "the path", hash: "sha256:set" },
  });
});

test("the program that came along without its hash is not started, but with one of the settings", () => {
  const bundled = program("extension", "server", "hashline");
  program("bin", "hashline");
  for (const gone of [() => undefined, () => writeFileSync(`${bundled}.sha256`, "\n")]) {
    gone();
    const located = look();
    assert.ok("missing" in located && located.missing.includes("reinstall the extension"));
    assert.deepEqual(look("", "sha256:set"), {
      found: { path: bundled, source: "this extension", hash: "sha256:set" },
    });
  }
});

test("a setting that cannot be run is told, and nothing else is taken for it", () => {
  program("bin", "hashline");
  const file = program("plain");
  chmodSync(file, 0o644);
  for (const wrong of [file, path.join(folder, "not-there"), folder, "hashline"]) {
    const located = look(wrong);
    assert.ok("missing" in located && located.missing.includes(wrong), wrong);
  }
});

test("what is no program is passed over on the path", () => {
  mkdirSync(path.join(folder, "none", "hashline"), { recursive: true });
  assert.ok("missing" in look());
  const file = program("bin", "hashline");
  assert.deepEqual(look(), { found: { path: file, source: "the path" } });
});

test("each failure says what helps first", () => {
  const failures = [
    missing("There is none."),
    notStarted("/b/hashline", "exit 1"),
    ended(4),
    untrusted("It is another one."),
    mismatched("/b/hashline", "0.0.9", undefined),
  ];
  assert.deepEqual(
    failures.map((failure) => [failure.kind, failure.helps[0]]),
    [
      ["missing", "setBinary"],
      ["broken", "showLog"],
      ["broken", "restart"],
      ["untrusted", "setBinary"],
      ["mismatched", "setBinary"],
    ],
  );
  assert.match(
    mismatched("/b/hashline", "9.0.0", 2).sentence,
    /speaks protocol 2, .*: update this extension\./,
  );
  assert.match(mismatched("/b/hashline", "0.0.9", undefined).sentence, /update that program\./);
});
