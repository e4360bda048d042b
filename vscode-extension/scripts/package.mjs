// Makes the .vsix: `npm run package`, or `npm run package -- --target darwin-arm64`.
//
// The sidecar's binary goes into it. It is built here, for which the target's Rust toolchain has to be there, or is the one that
// HASHLINE_BIN names.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const TRIPLES = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
  "alpine-x64": "x86_64-unknown-linux-musl",
  "alpine-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
  "win32-x64": "x86_64-pc-windows-msvc",
  "win32-arm64": "aarch64-pc-windows-msvc",
};
const here = `${process.platform}-${process.arch}`;

const extension = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const repository = path.dirname(extension);
const run = (command, args, cwd = extension) => execFileSync(command, args, { cwd, stdio: "inherit" });

const { target, out } = parseArgs({
  options: { target: { type: "string", default: here }, out: { type: "string" } },
}).values;
const triple = TRIPLES[target];
if (!triple) {
  console.error(`There is no target ${target}; there are ${Object.keys(TRIPLES).join(", ")}.`);
  process.exit(2);
}

/** Builds the binary for the target, and says where it is. */
function built() {
  const cross = target === here ? [] : ["--target", triple];
  run("cargo", ["build", "--release", "--locked", "--package", "hashline", ...cross], repository);
  const metadata = execFileSync("cargo", ["metadata", "--no-deps", "--format-version", "1"], {
    cwd: repository,
    maxBuffer: 64 * 1024 * 1024,
  });
  const folder = JSON.parse(metadata.toString()).target_directory;
  const name = target.startsWith("win32") ? "hashline.exe" : "hashline";
  return path.join(folder, ...(cross.length > 0 ? [triple] : []), "release", name);
}

const binary = process.env.HASHLINE_BIN ?? built();
const server = path.join(extension, "server");
rmSync(server, { recursive: true, force: true });
mkdirSync(server);
const bundled = path.join(server, target.startsWith("win32") ? "hashline.exe" : "hashline");
copyFileSync(binary, bundled);
chmodSync(bundled, 0o755);

for (const file of ["LICENSE-MIT", "LICENSE-APACHE"]) {
  copyFileSync(path.join(repository, file), path.join(extension, file));
}
run("node", ["build.mjs", "--production"]);

const { version } = JSON.parse(readFileSync(path.join(extension, "package.json"), "utf8"));
const file = path.resolve(out ?? path.join(extension, `hashline-${target}-${version}.vsix`));
run("npx", [
  "--no-install",
  "vsce",
  "package",
  "--no-dependencies",
  "--allow-missing-repository",
  // There are two licences, and one of the names that it looks for would hold half of the truth.
  "--skip-license",
  // The pictures of the README come with it.
  "--no-rewrite-relative-links",
  "--target",
  target,
  "--out",
  file,
]);
