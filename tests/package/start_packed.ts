/** Starts the program of an unpacked extension in the extension's own way: `start_packed EXTENSION STATE ARGUMENT...`. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { locate } from "../../vscode-extension/src/locator";
import { trust } from "../../vscode-extension/src/pinnedBinary";

async function start([extensionPath, state, ...args]: string[]): Promise<number> {
  const located = locate({ configured: "", hash: "", extensionPath, env: {}, platform: process.platform });
  if ("missing" in located) {
    throw new Error(located.missing);
  }
  const trusted = await trust(located.found, join(state, "binaries"));
  if ("refused" in trusted) {
    console.error(trusted.refused);
    return 1;
  }
  console.error(trusted.told ?? "as it was packed");
  // What is kept is kept in the test's folder and not in the home of whoever runs it.
  const verify = trusted.args.map((argument) => (argument === "--run" ? ["--state-dir", state, argument] : [argument]));
  const ran = spawnSync(trusted.command, [...verify.flat(), ...args], { stdio: "inherit" });
  await trusted.close();
  return ran.status ?? 1;
}

process.exitCode = await start(process.argv.slice(2));
