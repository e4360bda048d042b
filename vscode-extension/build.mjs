// Bundles the extension, and with --tests its unit tests, each into one file that node runs by itself.
import { readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { noticesOf } from "./scripts/notices.mjs";

const tests = process.argv.includes("--tests");
const production = process.argv.includes("--production");

const { metafile } = await build({
  ...(tests
    ? {
        entryPoints: readdirSync("unit")
          .filter((name) => name.endsWith("_test.ts"))
          .map((name) => `unit/${name}`),
        outdir: "out/unit",
      }
    : { entryPoints: ["src/extension.ts"], outfile: "dist/extension.js" }),
  bundle: true,
  platform: "node",
  // The node of the oldest VS Code that package.json admits.
  target: "node20",
  format: "cjs",
  // There is no VS Code in the unit tests: they bring what stands for it.
  ...(tests
    ? { alias: { vscode: "./unit/vscode.ts" }, logOverride: { "import-is-undefined": "silent" } }
    : { external: ["vscode"] }),
  // The language client's parts are CommonJS modules with an ES twin that cannot be bundled.
  mainFields: ["main"],
  minify: production,
  sourcemap: !production,
  logLevel: "warning",
  metafile: true,
});

if (!tests) {
  writeFileSync("ThirdPartyNotices.txt", noticesOf(metafile));
}
