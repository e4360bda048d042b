/** `tests/run HASHLINE [SUITE...]` starts it: every suite where it belongs, one after the other; the last line is the count. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Hand, type Parts } from "./hand/desk.ts";
import loop from "./hand/loop.ts";
import { Report } from "./report.ts";
import { programIn, sidecarIn } from "./sidecar.ts";
import { type Sitting, sit } from "./sitting.ts";
import { Workbench } from "./workbench.ts";

const [binary, ...wanted] = process.argv.slice(2);
if (binary === undefined) throw new Error("which hashline? vscode-extension/tests/run HASHLINE [SUITE...]");
const hashline = resolve(binary);
const isWanted = (...suites: readonly string[]) =>
  wanted.length === 0 || suites.some((suite) => wanted.includes(suite));

const home = mkdtempSync(join(tmpdir(), "hashline-vscode-"));
const report = new Report(join(home, "report"));
const sidecar = sidecarIn(join(home, "sidecar"), hashline);
const broken = programIn(join(home, "broken"), "hashline", "echo 'not today' >&2; exit 3");
const settings = { "hashline.binary": sidecar.binary };

const SITTINGS: readonly Sitting[] = [
  { settings: { "hashline.binary": join(home, "nowhere/hashline") }, suites: ["without_a_binary"] },
  { settings: { "hashline.binary": broken }, suites: ["with_a_broken_binary"] },
  { settings, suites: ["review", "apply", "texts", "files", "stillness", "sidecar_life", "crowd"] },
];

async function inTheExtensionHost(): Promise<void> {
  const sittings = SITTINGS.map((sitting) => ({
    ...sitting,
    suites: sitting.suites.filter((suite) => isWanted(suite)),
  }));
  const chosen = sittings.filter(({ suites }) => suites.length > 0);
  if (chosen.length === 0) return;
  const env = { HASHLINE_BIN: hashline, HASHLINE_STATE: sidecar.state, HASHLINE_REPORT: report.file };
  const workbench = await Workbench.start({ home: join(home, "host"), settings, hostTests: true, env });
  try {
    for (const sitting of chosen) {
      await sit(workbench, sitting, join(home, "host"), report);
      report.tell();
    }
  } finally {
    await workbench.close();
  }
}

async function byHand(): Promise<void> {
  if (!isWanted("loop")) return;
  const workbench = await Workbench.start({ home: join(home, "hand"), settings, installed: [] });
  const parts: Parts = { workbench, sidecar, hashline, projects: join(home, "projects") };
  try {
    await report.run(loop, async () => new Hand(parts));
    report.tell();
  } finally {
    await workbench.close();
  }
}

try {
  await inTheExtensionHost();
  await byHand();
} catch (error) {
  report.failed("the run", error);
}
const { passed, failed, skipped } = report.tell();
if (process.env.HASHLINE_KEEP === undefined) rmSync(home, { recursive: true, force: true, maxRetries: 5 });
else process.stdout.write(`kept: ${home}\n`);
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
