/** The sidecar as the extension is to start it in a test: one that keeps to a folder of the test's. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Sidecar {
  /** For the setting `hashline.binary`. */
  readonly binary: string;
  /** Where agents find it. */
  readonly state: string;
}

export function sidecarIn(folder: string, hashline: string): Sidecar {
  const state = join(folder, "state");
  const binary = programIn(folder, "hashline", `exec '${hashline}' "$@" --state-dir '${state}'`);
  return { binary, state };
}

/** A program that does what one line of shell says. */
export function programIn(folder: string, name: string, line: string): string {
  const program = join(folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(program, `#!/bin/sh\n${line}\n`);
  chmodSync(program, 0o700);
  return program;
}
