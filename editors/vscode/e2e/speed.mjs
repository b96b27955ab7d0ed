// How long activation takes, and typing in a file of 5,000 lines with and without the extension. Prints numbers, asserts none.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { command, goToLine, indexed, openFile, start } from "./editor.mjs";

const [repository, source = "src/werkzeug/http.py"] = process.argv.slice(2);
assert.ok(repository, "node e2e/speed.mjs REPOSITORY [A_FILE_IN_IT]");
const LINES = 5000;
const TEXT = "total = previous_total + compute_delay(attempts, limit)".repeat(4);

async function measured(extension) {
  const { page, workspace, stop, open } = await start(path.resolve(repository), { extension });
  try {
    const text = readFileSync(path.join(workspace, source), "utf8");
    const lines = text.repeat(Math.ceil(LINES / text.split("\n").length)).split("\n").slice(0, LINES);
    writeFileSync(path.join(workspace, "large.py"), `${lines.join("\n")}\n`);
    await open();
    await (extension ? indexed(page) : page.waitForTimeout(10_000));
    await openFile(page, "large.py");
    await page.waitForTimeout(5000);
    await goToLine(page, LINES / 2);
    await page.keyboard.press("End");
    const found = await typing(page);
    return { activation: extension ? await activationMs(page) : undefined, typing: found };
  } finally {
    await stop();
  }
}

async function activationMs(page) {
  await command(page, "Developer: Show Running Extensions");
  const row = page.locator(".runtime-extensions-editor .monaco-list-row", { hasText: "rag-ls" }).first();
  await row.waitFor();
  const said = await row.locator(".activation-time").textContent();
  return said?.trim();
}

/** Milliseconds from each key to the second frame after it, by when it is on the screen. */
async function typing(page) {
  await page.evaluate(() => {
    globalThis.waits = [];
    const key = ({ timeStamp }) => requestAnimationFrame(() => requestAnimationFrame((at) => globalThis.waits.push(at - timeStamp)));
    addEventListener("keydown", key, { capture: true });
  });
  await page.keyboard.type(TEXT, { delay: 60 });
  await page.waitForTimeout(1000);
  const waits = (await page.evaluate(() => globalThis.waits)).toSorted((one, other) => one - other);
  const at = (share) => Math.round(waits[Math.floor(waits.length * share)]);
  return { keys: waits.length, p50: at(0.5), p95: at(0.95), most: Math.round(waits.at(-1)) };
}

for (const extension of [false, true, false, true]) {
  const { activation, typing: found } = await measured(extension);
  const what = extension ? `with rag-ls (${activation})` : "without";
  console.log(`${what}: ${found.keys} keys, p50 ${found.p50} ms, p95 ${found.p95} ms, most ${found.most} ms`);
}
