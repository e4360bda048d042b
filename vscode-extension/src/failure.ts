/** Why the sidecar does not run: one sentence, and what helps. */
import { PROTOCOL } from "./protocol";

export type Help = "setBinary" | "restart" | "showLog";

export interface Failure {
  kind: "missing" | "untrusted" | "broken" | "mismatched";
  sentence: string;
  /** The first is what helps most. */
  helps: readonly Help[];
}

export const HELP_WORDS: Record<Help, string> = {
  setBinary: "Set the Program",
  restart: "Restart",
  showLog: "Show Log",
};

export function missing(sentence: string): Failure {
  return { kind: "missing", sentence: `hashline: ${sentence}`, helps: ["setBinary"] };
}

/** The program has another hash than the one that is pinned. */
export function untrusted(sentence: string): Failure {
  return { kind: "untrusted", sentence: `hashline: ${sentence}`, helps: ["setBinary", "restart"] };
}

export function notStarted(binary: string, reason: string): Failure {
  const sentence = `hashline: ${binary} did not start as a sidecar (${reason}); agents work on the disk until it runs.`;
  return { kind: "broken", sentence, helps: ["showLog", "setBinary", "restart"] };
}

export function ended(times: number): Failure {
  const sentence = `hashline: the sidecar ended by itself ${times} times in a row and is not started again; agents work on the disk until it runs.`;
  return { kind: "broken", sentence, helps: ["restart", "showLog"] };
}

/** @param spoken the protocol that the sidecar announced; none where it announced nothing */
export function mismatched(binary: string, version: string, spoken: number | undefined): Failure {
  const older = spoken === undefined || spoken < PROTOCOL;
  const speaks =
    spoken === undefined ? "does not speak this extension's protocol" : `speaks protocol ${spoken}`;
  const update = older ? "update that program" : "update this extension";
  const sentence = `hashline: ${binary} (${version}) ${speaks}, this extension speaks ${PROTOCOL}: ${update}.`;
  return { kind: "mismatched", sentence, helps: ["setBinary", "restart"] };
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
