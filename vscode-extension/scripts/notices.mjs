// The licences of the libraries that are in a bundle, which have to come with it.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** The folders of the packages that esbuild took something from, as its metafile tells them. */
function packagesIn(metafile) {
  const inside = Object.keys(metafile.inputs).map(
    (file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1],
  );
  return [...new Set(inside.filter((folder) => folder !== undefined))].toSorted();
}

/** @returns the text of all of them; throws where a package does not bring its own */
export function noticesOf(metafile) {
  const notices = packagesIn(metafile).map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    if (file === undefined) {
      throw new Error(`${folder} brings no licence: add its text here, or do without it.`);
    }
    const text = readFileSync(path.join(folder, file), "utf8").replaceAll("\r\n", "\n").trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  const rule = `\n${"-".repeat(78)}\n\n`;
  return ["The extension contains these libraries, each under its own licence.\n", ...notices].join(rule);
}
