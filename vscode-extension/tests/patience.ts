/** Waiting for what is to be seen: never for a time, and never for ever. */

const PATIENCE_MS = 30_000; // far more than anything here takes on a machine that has nothing else to do

export function pause(ms: number): Promise<void> {
  return new Promise((over) => setTimeout(over, ms));
}

/** Asks again and again until the answer is something, and gives it back. `what` tells what never came. */
export async function until<T>(
  ask: () => T | Promise<T>,
  what: string | (() => string),
  patience = PATIENCE_MS,
): Promise<NonNullable<T>> {
  for (const began = Date.now(); ; ) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() - began > patience) throw new Error(`never: ${typeof what === "string" ? what : what()}`);
    await pause(15);
  }
}

/** `work`, unless it takes longer than this. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${what} takes longer than ${ms / 1000} s`)), ms);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
