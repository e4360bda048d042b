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
  const name = "hashline";
  const ends = `[ ! -e '${join(folder, name)}.ends' ] || exit 3`; // a test may want one that does not start
  const verifies = `package) shift 2; set -- package verify-binary --state-dir '${state}' "$@" ;;`;
  const inState = `case "$1" in lsp | mcp | status | diff) set -- "$@" --state-dir '${state}' ;; ${verifies} esac`;
  const binary = programIn(folder, name, `${ends}; ${inState}; exec '${hashline}' "$@"`);
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
