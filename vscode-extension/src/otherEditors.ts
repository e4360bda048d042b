/** What other editors of the person have open, as `hashline status` tells it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Found } from "./locator";
import { trust } from "./pinnedBinary";

/** As much of what `hashline status --json` prints as is needed here. */
export interface StatusReport {
  sidecars: { socket: string; status?: { documents: { uri: string; version?: number }[] } }[];
}

/** It gives each sidecar a few seconds. */
const LONGEST_MS = 20_000;

/** Whether a document that is open in the editor with this socket is open in another one, too. */
export function isShared({ sidecars }: StatusReport, socket: string): boolean {
  const openIn = (own: boolean) =>
    sidecars
      .filter((sidecar) => (sidecar.socket === socket) === own)
      .flatMap(({ status }) => status?.documents ?? [])
      .filter(({ version }) => version !== undefined)
      .map(({ uri }) => uri);
  const others = new Set(openIn(false));
  return openIn(true).some((uri) => others.has(uri));
}

export async function isOpenElsewhere(found: Found, socket: string): Promise<boolean> {
  const trusted = await trust(found);
  if ("refused" in trusted) {
    throw new Error(trusted.refused);
  }
  try {
    const args = [...trusted.args, "status", "--json"];
    const { stdout } = await promisify(execFile)(trusted.command, args, { timeout: LONGEST_MS });
    return isShared(JSON.parse(stdout) as StatusReport, socket);
  } finally {
    await trusted.close();
  }
}
