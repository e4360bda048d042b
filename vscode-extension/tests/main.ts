/** `tests/run HASHLINE [SUITE...]` starts it: every suite where it belongs, one after the other; the last line is the count. */
import { join, resolve } from "node:path";
import { run } from "./course.ts";
import { Hand } from "./hand/desk.ts";
import loop from "./hand/loop.ts";
import starting from "./hand/starting.ts";
import { packed } from "./packed.ts";
import type { Report } from "./report.ts";
import { programIn, sidecarIn } from "./sidecar.ts";
import { type Sitting, sit } from "./sitting.ts";
import { Workbench } from "./workbench.ts";

const [binary, ...wanted] = process.argv.slice(2);
if (binary === undefined) throw new Error("which hashline? vscode-extension/tests/run HASHLINE [SUITE...]");
const hashline = resolve(binary);
const isWanted = (suite: string) => wanted.length === 0 || wanted.includes(suite);

const PICTURES = resolve(import.meta.dirname, "../../tests/.out/vscode");

const BY_HAND = { loop, starting };

const STANDIN = resolve(import.meta.dirname, "standin.ts");

const HOSTED = [
  "review",
  "apply",
  "compare",
  "review_all",
  "ways",
  "navigation",
  "texts",
  "files",
  "foreign_writes",
  "chains",
  "stillness",
  "sidecar_life",
  "crowd",
];

/** A line of shell that answers the first request as a sidecar would that knows nothing of this extension. */
function answerOfAnOldSidecar(): string {
  const result = { capabilities: {}, serverInfo: { name: "hashline", version: "0.0.1" } };
  const answer = JSON.stringify({ jsonrpc: "2.0", id: 0, result });
  return `printf 'Content-Length: ${answer.length}\\r\\n\\r\\n%s' '${answer}'; exec cat >/dev/null`;
}

async function inTheExtensionHost(home: string, report: Report): Promise<void> {
  const sidecar = sidecarIn(join(home, "sidecar"), hashline);
  const settings = { "hashline.binary": sidecar.binary };
  const nowhere = { "hashline.binary": join(home, "nowhere/hashline") };
  const broken = {
    "hashline.binary": programIn(join(home, "broken"), "hashline", "echo 'not today' >&2; exit 3"),
  };
  const standin = {
    "hashline.binary": programIn(
      join(home, "standin"),
      "hashline",
      `exec '${process.execPath}' '${STANDIN}'`,
    ),
  };
  const sittings: readonly Sitting[] = [
    { settings: nowhere, suites: ["without_a_binary"] },
    { settings: broken, suites: ["with_a_broken_binary"] },
    { settings: standin, suites: ["causes"] },
    { settings, suites: HOSTED },
  ];
  const chosen = sittings
    .map((sitting) => ({ ...sitting, suites: sitting.suites.filter(isWanted) }))
    .filter(({ suites }) => suites.length > 0);
  if (chosen.length === 0) return;
  const env = {
    HASHLINE_BIN: hashline,
    HASHLINE_SIDECAR: sidecar.binary,
    HASHLINE_STATE: sidecar.state,
    HASHLINE_STATE_DIR: sidecar.state,
    HASHLINE_OLD: programIn(join(home, "old"), "hashline", answerOfAnOldSidecar()),
    HASHLINE_STANDIN: join(home, "standin", "socket"),
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

async function byHand(home: string, report: Report): Promise<void> {
  const suites = Object.entries(BY_HAND).filter(([name]) => isWanted(name));
  if (suites.length === 0) return;
  const sidecar = sidecarIn(join(home, "sidecar"), hashline);
  const settings = { "hashline.binary": sidecar.binary };
  const workbench = await Workbench.start({
    home: join(home, "hand"),
    settings,
    installed: [packed(home, hashline)],
    env: { HASHLINE_STATE_DIR: sidecar.state },
  });
  const projects = join(home, "projects");
  try {
    const open = async () =>
      new Hand({ workbench, sidecar, hashline, settings, projects, pictures: PICTURES });
    for (const [, suite] of suites) {
      await report.run(suite, open);
      report.tell();
    }
  } finally {
    await workbench.close();
  }
}

await run("hashline-vscode", async (home, report) => {
  await inTheExtensionHost(home, report);
  await byHand(home, report);
});
