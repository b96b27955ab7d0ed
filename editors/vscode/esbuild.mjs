// Bundles the extension into one file, so that the editor loads it at once, and each of its pages' scripts into another; with --tests,
// the tests for node's own runner.
import { build } from "esbuild";
import { readdirSync } from "node:fs";

const node = { bundle: true, platform: "node", format: "cjs", target: "node20", external: ["vscode"] };

/** Leaves a module out of the bundle: it is in one of its own, and loaded when it is first needed. */
function late(module, bundled) {
  return { name: "late", setup: ({ onResolve }) => onResolve({ filter: module }, () => ({ path: bundled, external: true })) };
}

if (process.argv.includes("--tests")) {
  const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
  await build({ ...node, entryPoints: tests.map((name) => `test/${name}`), outdir: "dist/test", sourcemap: "inline" });
} else {
  await build({ ...node, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", minify: true, plugins: [late(/^\.\/client\.ts$/, "./client.js")] });
  await build({ ...node, entryPoints: ["src/server/client.ts"], outfile: "dist/client.js", minify: true });
  const pages = ["src/search/webview/search.ts", "src/status/webview/status.ts"];
  await build({ bundle: true, platform: "browser", format: "iife", target: "chrome134", entryPoints: pages, outdir: "dist", entryNames: "[name]", minify: true });
}
