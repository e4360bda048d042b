/** `tests/several_editors/run HASHLINE NVIM` starts it: all tests in one window of VS Code; the last line is the count. */
import { join } from "node:path";
import { run } from "../../vscode-extension/tests/course.ts";
import { packed } from "../../vscode-extension/tests/packed.ts";
import type { Suite } from "../../vscode-extension/tests/report.ts";
import { sidecarIn } from "../../vscode-extension/tests/sidecar.ts";
import { Workbench } from "../../vscode-extension/tests/workbench.ts";
import arriving from "./arriving.ts";
import choosing from "./choosing.ts";
import deciding from "./deciding.ts";
import { House } from "./house.ts";
import inheriting from "./inheriting.ts";
import type { Room } from "./room.ts";
import sharing from "./sharing.ts";

const [hashline, nvim] = process.argv.slice(2);
if (hashline === undefined || nvim === undefined) throw new Error("which hashline, and which Neovim?");

/** The window comes with the first of them; the last ends sidecars. */
const SUITES: readonly Suite<Room>[] = [arriving, deciding, choosing, sharing, inheriting];

await run("hashline-several", async (home, report) => {
  const sidecar = sidecarIn(join(home, "sidecar"), hashline);
  const workbench = await Workbench.start({
    home: join(home, "vscode"),
    settings: { "hashline.binary": sidecar.binary },
    installed: [packed(home, hashline)],
    env: { HASHLINE_STATE_DIR: sidecar.state },
  });
  const house = new House({ home, hashline, nvim, sidecar, workbench });
  try {
    for (const suite of SUITES) {
      await report.run(suite, () => house.room());
      report.tell();
    }
  } finally {
    await workbench.close();
  }
});
