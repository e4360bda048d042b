// Makes the .vsix: `npm run package`, or `npm run package -- --target darwin-arm64`.
//
// The sidecar's binary goes into it. It is built here, for which the target's Rust toolchain has to be there, or is the one that
// HASHLINE_BIN names.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

function giveUp(sentence) {
  console.error(sentence);
  process.exit(2);
}

const { target, out } = parseArgs({
  options: { target: { type: "string", default: here }, out: { type: "string" } },
}).values;
const triple = TRIPLES[target];
if (!triple) {
  giveUp(`There is no target ${target}; there are ${Object.keys(TRIPLES).join(", ")}.`);
}

const OR_BRING_IT = "or build the program elsewhere and name it in HASHLINE_BIN.";

/** Says what is missing where this machine's Rust cannot build for the target. */
function checkToolchain() {
  let library;
  try {
    const asked = ["--print", "target-libdir", "--target", triple];
    library = execFileSync("rustc", asked, { encoding: "utf8" }).trim();
  } catch (error) {
    giveUp(
      error.code === "ENOENT"
        ? `There is no rustc on the path to build for ${target} with: install Rust (https://rustup.rs), ${OR_BRING_IT}`
        : `rustc does not know the target ${triple} of ${target}: update Rust, ${OR_BRING_IT}`,
    );
  }
  if (!existsSync(library)) {
    giveUp(`Rust's target ${triple} of ${target} is missing: rustup target add ${triple}, ${OR_BRING_IT}`);
  }
}

/** Builds the binary for the target, and says where it is. */
function built() {
  checkToolchain();
  const cross = target === here ? [] : ["--target", triple];
  try {
    run("cargo", ["build", "--release", "--locked", "--package", "hashline", ...cross], repository);
  } catch {
    const help = cross.length > 0 ? `mend that (a linker for ${triple} may be missing), ` : "mend that, ";
    giveUp(`hashline was not built for ${target}; cargo says above why: ${help}${OR_BRING_IT}`);
  }
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
// What the extension compares it with before each start.
const digest = createHash("sha256").update(readFileSync(bundled)).digest("hex");
writeFileSync(`${bundled}.sha256`, `sha256:${digest}\n`);

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
