/** The mark of an editor that is starting (editors/PROTOCOL.md, "Starting"): agents wait for it until the sidecar knows what is open. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import * as path from "node:path";

function sidecarsFolder(): string {
  return path.join(process.env.HASHLINE_STATE_DIR || path.join(userInfo().homedir, ".hashline"), "sidecars");
}

let count = 0;

/** Marks folders. Returns what takes the mark away again, any number of times. */
export function mark(roots: readonly string[], folder = sidecarsFolder()): () => void {
  if (roots.length === 0) {
    return () => undefined;
  }
  const name = `vscode-${process.pid}-${++count}`;
  const unready = path.join(folder, `.${name}`);
  const ready = path.join(folder, `${name}.starting`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const said = { pid: process.pid, host: hostname(), roots, started: Date.now() };
  writeFileSync(unready, JSON.stringify(said), { mode: 0o600 });
  renameSync(unready, ready);
  return () => rmSync(ready, { force: true });
}
