/** The extension as people install it. */
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";

export function packed(folder: string, hashline: string): string {
  const file = join(folder, "hashline.vsix");
  const script = resolve(import.meta.dirname, "../scripts/package.mjs");
  execFileSync(process.execPath, [script, "--out", file], {
    env: { ...process.env, HASHLINE_BIN: hashline },
    stdio: "pipe",
  });
  return file;
}
