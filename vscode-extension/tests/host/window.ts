/** What the workbench calls in a window of tests: it runs them in the extension host, beside the extension. */
import { Report, type Suite } from "../report.ts";
import { Scene } from "./scene.ts";

/** Where the suites' lines go: tests may add figures that were measured. */
export const report = new Report(process.env.HASHLINE_REPORT!);

export async function runSuites(suites: readonly Suite<Scene>[]): Promise<void> {
  for (const suite of suites) await report.run(suite, Scene.open);
}
