/** A window whose extension host runs suites: VS Code's own way of testing extensions. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { until, within } from "./patience.ts";
import type { Report } from "./report.ts";
import type { Workbench } from "./workbench.ts";

const EXTENSION = resolve(import.meta.dirname, "..");
const LONGEST_MS = 300_000;
/** VS Code's own mark that the parts are there which it makes once a window is restored, when it is idle: formatting on saving is one. */
const COMPLETE = "code/didCreateWorkbenchContributions/3";

export interface Sitting {
  /** The person's settings. */
  readonly settings: object;
  /** Files of host/, by name. */
  readonly suites: readonly string[];
}

export async function sit(
  workbench: Workbench,
  { settings, suites }: Sitting,
  home: string,
  report: Report,
): Promise<void> {
  const folder = join(home, suites.join("-"));
  const project = join(folder, "project");
  const complete = join(folder, "complete");
  mkdirSync(project, { recursive: true });
  workbench.configure(settings);
  let ended: (code: number) => void = () => undefined;
  const exit = new Promise<number>((over) => {
    ended = over;
  });
  const page = await workbench.window(project, {
    payload: {
      extensionDevelopmentPath: workbench.uri(EXTENSION),
      extensionTestsPath: workbench.uri(await bundle(suites, folder, complete)),
    },
    answers: { codeAutomationExit: ended, codeAutomationLog: () => undefined },
  });
  try {
    await completed(page);
    writeFileSync(complete, "");
    const code = await within(LONGEST_MS, "a window of tests", exit);
    if (code !== 0) throw new Error(`the window of tests ended with ${code}`);
  } catch (error) {
    report.failed(`${suites.join(", ")}: all`, error);
  }
  await page.context().close();
}

/** The extension host is there before that: what a test saved then would not be formatted. */
async function completed(page: Page): Promise<void> {
  const isComplete = () => page.evaluate((mark) => performance.getEntriesByName(mark).length > 0, COMPLETE);
  await until(isComplete, "the window has all its parts", LONGEST_MS);
}

/** One file that the extension host can load: the suites, and all that they import but `vscode`. They begin when the file `complete` is there. */
async function bundle(suites: readonly string[], folder: string, complete: string): Promise<string> {
  const outfile = join(folder, "suites.cjs");
  await build({
    stdin: {
      contents: [
        'import { runSuites } from "./window.ts";',
        ...suites.map((name, n) => `import suite${n} from "./${name}.ts";`),
        `export const run = () => runSuites([${suites.map((_, n) => `suite${n}`)}], ${JSON.stringify(complete)});`,
      ].join("\n"),
      resolveDir: join(import.meta.dirname, "host"),
    },
    bundle: true,
    platform: "node",
    format: "cjs",
    external: ["vscode"],
    sourcemap: "inline",
    outfile,
  });
  return outfile;
}
