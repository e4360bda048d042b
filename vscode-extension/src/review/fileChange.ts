/** What a hunk does to its file itself: the sidecar says it in words, which are read here and nowhere else. */
import type { Hunk } from "../protocol";

export type FileChange =
  | { kind: "create" }
  | { kind: "remove" }
  /** `to` is the path of the file after it. */
  | { kind: "rename"; to: string }
  /** Another one, in the sidecar's words. */
  | { kind: "other"; words: string };

/** None of a hunk that is about lines. */
export function fileChangeOf({ file }: Hunk): FileChange | undefined {
  if (file === null) {
    return undefined;
  }
  if (file === "make the file") {
    return { kind: "create" };
  }
  if (file === "remove the file") {
    return { kind: "remove" };
  }
  const to = /^rename the file to (.+)$/s.exec(file)?.[1];
  return to === undefined ? { kind: "other", words: file } : { kind: "rename", to };
}

/** The last part of a path, of whichever system. */
export function baseOf(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path;
}
