// Bundles the extension, and with --tests its unit tests, each into one file that node runs by itself.
import { readdirSync } from "node:fs";
import { build } from "esbuild";

const tests = process.argv.includes("--tests");
const production = process.argv.includes("--production");

await build({
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
  external: ["vscode"],
  // The language client's parts are CommonJS modules with an ES twin that cannot be bundled.
  mainFields: ["main"],
  minify: production,
  sourcemap: !production,
  logLevel: "warning",
});
