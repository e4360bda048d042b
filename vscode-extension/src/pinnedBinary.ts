/** A program whose hash is pinned is started only as the very bytes that have it. */
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { userInfo } from "node:os";
import * as path from "node:path";
import { reasonOf } from "./failure";
import type { Found } from "./locator";

/** A program as it is to be started. */
export interface Trusted {
  command: string;
  /** What stands before the arguments of the program itself. */
  args: readonly string[];
  /** What the person is to know. */
  told?: string;
  /** Lets go of the opened file. It has to be there until the program runs. */
  close(): Promise<void>;
}

/** Where `hashline package verify-binary` keeps the programs that it has verified. */
function keptIn(): string {
  return path.join(homeOf(), ".hashline", "binaries");
}

/** The home in the password database, as for all that hashline keeps for a user. Not everybody has one in there. */
function homeOf(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}

const HASH = /^sha256:[0-9a-f]{64}$/;

/** The program, or why it is not started. */
export async function trust(found: Found, kept = keptIn()): Promise<Trusted | { refused: string }> {
  const { hash: expected, path: file, source } = found;
  if (expected === undefined) {
    return { command: file, args: [], close: async () => undefined };
  }
  if (!HASH.test(expected)) {
    return {
      refused: `${expected} is no hash, which is written sha256: and 64 digits; ${file} is not started.`,
    };
  }
  const given = await opened(file);
  if (given.hash === expected) {
    return given.start(expected);
  }
  await given.close();
  const actual = given.hash ?? given.reason;
  const other = `${file} is not the program that is meant: expected ${expected}, actual ${actual}, from ${source}`;
  const last = await opened(path.join(kept, expected.slice("sha256:".length), path.basename(file)));
  if (last.hash === expected) {
    return { ...last.start(expected), told: `${other}. The last good one runs instead.` };
  }
  await last.close();
  return { refused: `${other}. It is not started; install it anew.` };
}

/** A file, opened and hashed. */
async function opened(file: string) {
  let handle: FileHandle | undefined;
  let hash: string | undefined;
  let reason = "unknown";
  try {
    handle = await open(file);
    const digest = createHash("sha256");
    for await (const bytes of handle.createReadStream({ autoClose: false, start: 0 })) {
      digest.update(bytes);
    }
    hash = `sha256:${digest.digest("hex")}`;
  } catch (error) {
    reason = reasonOf(error);
  }
  const close = async () => handle?.close();
  // Where the system has a name for what is open, that is started: whatever has the file's own name by then.
  const command = process.platform === "linux" && handle ? `/proc/${process.pid}/fd/${handle.fd}` : file;
  // It keeps the program for the day on which another has taken its place.
  const start = (expected: string): Trusted => ({
    command,
    args: ["package", "verify-binary", file, "--hash", expected, "--run", "--"],
    close,
  });
  return { hash, reason, start, close };
}
