/** Finds the sidecar's binary. Nobody else looks for it. */
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";

export interface Found {
  path: string;
  /** Where it was found, in words. */
  source: string;
  /** The hash that it has to have, where one is pinned. */
  hash?: string;
}

/** Where to look. */
export interface Places {
  /** The setting `hashline.binary`; empty for none. */
  configured: string;
  /** The setting `hashline.binaryHash`; empty for none. */
  hash: string;
  /** The folder of this extension, which may hold a binary for this machine. */
  extensionPath: string;
  /** The environment that the editor was started in. */
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
}

export type Located = { found: Found } | { missing: string };

const isFile = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

/** Whether the setting says it, or it came with this extension, or is on the path; in this order. */
export function locate(places: Places): Located {
  const located = find(places);
  const hash = places.hash.trim();
  return "found" in located && hash !== "" ? { found: { ...located.found, hash } } : located;
}

/** What packing wrote beside the program that comes along; empty if it is gone. */
function pinOf(bundled: string): string {
  const pin = `${bundled}.sha256`;
  return existsSync(pin) ? readFileSync(pin, "utf8").trim() : "";
}

function find(places: Places): Located {
  const name = places.platform === "win32" ? "hashline.exe" : "hashline";
  const configured = places.configured.trim();
  if (configured !== "") {
    const file = configured.replace(/^~(?=\/|\\|$)/, homedir());
    if (!path.isAbsolute(file)) {
      return { missing: `The setting hashline.binary says ${configured}, which is no absolute path.` };
    }
    return isFile(file)
      ? { found: { path: file, source: "the setting hashline.binary" } }
      : { missing: `The setting hashline.binary says ${configured}, which is no program that can be run.` };
  }
  const bundled = path.join(places.extensionPath, "server", name);
  if (isFile(bundled)) {
    const hash = places.hash.trim() || pinOf(bundled);
    return hash !== ""
      ? { found: { path: bundled, source: "this extension", hash } }
      : {
          missing: `${bundled} came with this extension, but its recorded hash is missing, so it cannot be verified: reinstall the extension.`,
        };
  }
  const folders = (places.env.PATH ?? places.env.Path ?? "").split(path.delimiter);
  for (const folder of folders.filter((folder) => folder !== "")) {
    const file = path.join(folder, name);
    if (isFile(file)) {
      return { found: { path: file, source: "the path" } };
    }
  }
  return {
    missing:
      "There is no hashline program: it did not come with this extension for this kind of machine, and is not on the path.",
  };
}
