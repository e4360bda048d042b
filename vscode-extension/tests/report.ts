/** What came of the tests, said in the words that tests/run reads. */
import { appendFileSync, readFileSync } from "node:fs";
import { within } from "./patience.ts";

/** What a test has to itself, and leaves behind as it was. */
export interface Stage {
  /** Tells how it stood when a test failed on it. */
  failed?(claim: string): Promise<string>;
  close(): Promise<void>;
}

/** Tests under one heading, by what each claims. */
export interface Suite<S extends Stage> {
  readonly heading: string;
  readonly tests: Readonly<Record<string, (stage: S) => Promise<void>>>;
}

const LONGEST_MS = 120_000; // of one test

/** Every line goes to a file: those of the extension host have no other way out. */
export class Report {
  readonly file: string;
  private told = 0;

  constructor(file: string) {
    this.file = file;
    appendFileSync(file, "");
  }

  say(line: string): void {
    appendFileSync(this.file, `${line}\n`);
  }

  failed(name: string, error: unknown): void {
    this.say(`FAILED ${name}\n${error instanceof Error ? error.stack : error}`);
  }

  /** Prints what was said since it was told last, and counts all. */
  tell(): { passed: number; failed: number; skipped: number } {
    const lines = readFileSync(this.file, "utf8").split("\n").slice(0, -1);
    for (const line of lines.slice(this.told)) process.stdout.write(`${line}\n`);
    this.told = lines.length;
    const count = (words: string) => lines.filter((line) => line.startsWith(words)).length;
    return { passed: count("ok   "), failed: count("FAILED "), skipped: count("skipped ") };
  }

  /** Runs the tests one after the other, each on a stage of its own; with HASHLINE_ONLY those with these words in their names. */
  async run<S extends Stage>({ heading, tests }: Suite<S>, open: () => Promise<S>): Promise<void> {
    for (const [claim, test] of Object.entries(tests)) {
      const name = `${heading}: ${claim}`;
      if (!name.includes(process.env.HASHLINE_ONLY ?? "")) continue;
      const began = Date.now();
      try {
        await within(LONGEST_MS, "the test", played(claim, test, open));
        this.say(`ok   ${name} (${Date.now() - began} ms)`);
      } catch (error) {
        this.failed(`${name} (${Date.now() - began} ms)`, error);
      }
    }
  }
}

async function played<S extends Stage>(
  claim: string,
  test: (stage: S) => Promise<void>,
  open: () => Promise<S>,
): Promise<void> {
  const stage = await open();
  try {
    await test(stage);
  } catch (error) {
    const seen = await stage.failed?.(claim);
    if (seen && error instanceof Error) error.stack += `\n${seen}`;
    throw error;
  } finally {
    await stage.close();
  }
}
