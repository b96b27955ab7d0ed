// Bundles the extension into one file, so that the editor loads it at once; with --tests, the tests for node's own runner.
import { build } from "esbuild";
import { readdirSync } from "node:fs";

const common = { bundle: true, platform: "node", format: "cjs", target: "node20", external: ["vscode"] };

if (process.argv.includes("--tests")) {
  const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
  await build({ ...common, entryPoints: tests.map((name) => `test/${name}`), outdir: "dist/test", sourcemap: "inline" });
} else {
  await build({ ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", minify: true });
}
