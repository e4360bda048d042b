/** What the workbench calls in a window of tests: it runs them in the extension host, beside the extension. */
import { existsSync } from "node:fs";
import { until } from "../patience.ts";
import { Report, type Suite } from "../report.ts";
import { Scene } from "./scene.ts";

/** Where the suites' lines go: tests may add figures that were measured. */
export const report = new Report(process.env.HASHLINE_REPORT!);

const PATIENCE_MS = 240_000; // a busy machine is seldom idle, and the window is completed when it is

/** `complete`: a file that is there once the window has all its parts. */
export async function runSuites(suites: readonly Suite<Scene>[], complete: string): Promise<void> {
  await until(() => existsSync(complete), "the window has all its parts", PATIENCE_MS);
  for (const suite of suites) await report.run(suite, Scene.open);
}
