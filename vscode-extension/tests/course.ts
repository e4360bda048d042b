/** The course of a run, whatever is tested in it: a folder of its own, and the count as its last line. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Report } from "./report.ts";

/** @param name what the folder's name begins with */
export async function run(
  name: string,
  tests: (home: string, report: Report) => Promise<void>,
): Promise<void> {
  // What it started is ended when this process exits, which it does not by itself when it is told to end.
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
  const home = mkdtempSync(join(tmpdir(), `${name}-`));
  const report = new Report(join(home, "report"));
  try {
    await tests(home, report);
  } catch (error) {
    report.failed("the run", error);
  }
  const { passed, failed, skipped } = report.tell();
  if (process.env.HASHLINE_KEEP === undefined) rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  else process.stdout.write(`kept: ${home}\n`);
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  // Whatever a test that failed has left open: the run is over.
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}
