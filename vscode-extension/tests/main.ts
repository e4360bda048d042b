/** `tests/run HASHLINE [SUITE...]` starts it: every suite where it belongs, one after the other; the last line is the count. */
import { execFileSync } from "node:child_process";
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
const old = programIn(join(home, "old"), "hashline", answerOfAnOldSidecar());
const settings = { "hashline.binary": sidecar.binary };

const SITTINGS: readonly Sitting[] = [
  { settings: { "hashline.binary": join(home, "nowhere/hashline") }, suites: ["without_a_binary"] },
  { settings: { "hashline.binary": broken }, suites: ["with_a_broken_binary"] },
  { settings, suites: ["review", "apply", "texts", "files", "stillness", "sidecar_life", "crowd"] },
];

/** A line of shell that answers the first request as a sidecar would that knows nothing of this extension. */
function answerOfAnOldSidecar(): string {
  const result = { capabilities: {}, serverInfo: { name: "hashline", version: "0.0.1" } };
  const answer = JSON.stringify({ jsonrpc: "2.0", id: 0, result });
  return `printf 'Content-Length: ${answer.length}\\r\\n\\r\\n%s' '${answer}'; exec cat >/dev/null`;
}

async function inTheExtensionHost(): Promise<void> {
  const sittings = SITTINGS.map((sitting) => ({
    ...sitting,
    suites: sitting.suites.filter((suite) => isWanted(suite)),
  }));
  const chosen = sittings.filter(({ suites }) => suites.length > 0);
  if (chosen.length === 0) return;
  const env = {
    HASHLINE_BIN: hashline,
    HASHLINE_SIDECAR: sidecar.binary,
    HASHLINE_STATE: sidecar.state,
    HASHLINE_OLD: old,
    HASHLINE_REPORT: report.file,
  };
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

/** The extension as people install it. */
function packed(): string {
  const file = join(home, "hashline.vsix");
  const script = resolve(import.meta.dirname, "../scripts/package.mjs");
  execFileSync(process.execPath, [script, "--out", file], {
    env: { ...process.env, HASHLINE_BIN: hashline },
    stdio: "pipe",
  });
  return file;
}

async function byHand(): Promise<void> {
  if (!isWanted("loop")) return;
  const workbench = await Workbench.start({ home: join(home, "hand"), settings, installed: [packed()] });
  const parts: Parts = { workbench, sidecar, hashline, settings, projects: join(home, "projects") };
  try {
    await report.run(loop, async () => new Hand(parts));
    report.tell();
  } finally {
    await workbench.close();
  }
}

// What it started is ended when this process exits, which it does not by itself when it is told to end.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

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
