// The extension in a real VS Code (its server edition, in headless Chromium): installs the .vsix, opens a repository, and does what a
// person does. Keeps a screenshot of each state. Usage, after `npm run package`:
//
//   CODE_SERVER=…/code-server (unpacked npm package, with its dependencies) CHROMIUM=/usr/bin/chromium RAG_LS=…/bin/rag-ls \
//   NODE=…/bin/node (the version that code-server wants) node e2e/run.mjs …/repository …/screenshots
//
// `playwright-core` must be installed beside the other development dependencies.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const [repository, shots] = process.argv.slice(2).map((each) => path.resolve(each));
const { CODE_SERVER, CHROMIUM, RAG_LS, NODE = process.execPath } = process.env;
assert.ok(repository && shots && CODE_SERVER && CHROMIUM && RAG_LS, "see the head of this file");
const PORT = 8771;
const QUESTION = "where is the session cookie signed";
const FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";

const scratch = mkdtempSync(path.join(tmpdir(), "rag-ls-vscode-"));
const workspace = path.join(scratch, "workspace");
const folders = ["--user-data-dir", path.join(scratch, "user"), "--extensions-dir", path.join(scratch, "extensions")];
const entry = path.join(CODE_SERVER, "out", "node", "entry.js");
const environment = { ...process.env, RAG_LS_HOME: path.join(scratch, "home") };

function prepare() {
  cpSync(repository, workspace, { recursive: true });
  execFileSync("git", ["init", "-q"], { cwd: workspace });
  for (const [place, settings] of [
    ["Machine", { "ragLs.path": RAG_LS }],
    ["User", { "security.workspace.trust.enabled": false, "workbench.startupEditor": "none", "chat.commandCenter.enabled": false }],
  ]) {
    mkdirSync(path.join(scratch, "user", place), { recursive: true });
    writeFileSync(path.join(scratch, "user", place, "settings.json"), JSON.stringify(settings));
  }
  mkdirSync(shots, { recursive: true });
  execFileSync(NODE, [entry, ...folders, "--install-extension", path.resolve("rag-ls.vsix")], { env: environment, stdio: "ignore" });
}

const steps = {
  async "the index is built, and the status bar says so"(page) {
    await page.getByRole("button", { name: /files are indexed/ }).waitFor({ timeout: 240_000 });
  },
  async "a question shows hits while it is typed, and arrows preview them"(page) {
    await page.keyboard.press("Control+Alt+f");
    await page.locator(".quick-input-widget").waitFor();
    await page.keyboard.type(QUESTION, { delay: 20 });
    const hits = page.locator(".quick-input-list .monaco-list-row");
    await hits.nth(2).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator(".tab.active .label-name").first().waitFor();
    assert.match((await hits.first().getAttribute("aria-label")) ?? "", /cookie/i);
  },
  async "Enter opens the hit, and the side bar keeps all of them by file"(page) {
    await page.keyboard.press("Enter");
    await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    await page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
    await command(page, "rag-ls: Focus on Memories View");
    await page.locator(".pane-header", { hasText: "Search" }).getByText(QUESTION).waitFor();
    const rows = page.locator("[id='workbench.view.extension.ragLs'] .monaco-list-row");
    assert.ok((await rows.count()) > 3);
    for (const label of await rows.evaluateAll((all) => all.map((row) => row.getAttribute("aria-label")))) {
      assert.ok(label, "every row says what it is");
    }
  },
  async "a selection is remembered, and is in the Memories view"(page) {
    await page.locator(".monaco-editor .view-line").first().click();
    await page.keyboard.press("Control+Home");
    await command(page, "Go to Line/Column");
    await page.keyboard.type("1");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Control+L");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await command(page, "rag-ls: Remember Selection");
    await page.getByRole("treeitem", { name: /^Memory: / }).first().waitFor({ timeout: 30_000 });
  },
  async "a memory is written as a document, and saving it stores it"(page) {
    await command(page, "rag-ls: Add Memory");
    await page.locator(".tab.active", { hasText: "New memory" }).waitFor();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("Cookies are parsed leniently: old clients send broken ones.");
    await page.keyboard.press("Control+s");
    await page.getByRole("treeitem", { name: /Cookies are parsed leniently/ }).waitFor({ timeout: 30_000 });
    await page.locator(".tab", { hasText: "New memory" }).waitFor({ state: "detached" });
  },
  async "it is edited, and is so after the window was loaded again"(page) {
    await page.getByRole("treeitem", { name: /Cookies are parsed leniently/ }).click();
    await page.locator(".tab.active", { hasText: /^[0-9a-f-]{36}\.md$/ }).waitFor();
    await page.keyboard.press("Control+1");
    await page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(" So do some proxies.");
    await page.keyboard.press("Control+s");
    await page.locator(".tab.active.dirty").waitFor({ state: "detached" });
    await page.waitForTimeout(2000);
    await command(page, "Developer: Reload Window");
    await page.waitForTimeout(3000);
    await page.getByRole("button", { name: /files are indexed/ }).waitFor({ timeout: 120_000 });
    await page.locator(".view-line", { hasText: "So do some proxies" }).waitFor();
    await command(page, "rag-ls: Focus on Memories View");
    await page.getByRole("treeitem", { name: /Cookies are parsed leniently/ }).waitFor();
  },
  async "the status page says how the project stands"(page) {
    await command(page, "rag-ls: Show Status");
    await page.locator(".tab.active", { hasText: "rag-ls status" }).waitFor();
    await page.locator(".view-line", { hasText: "found by words" }).first().waitFor();
  },
  async "a server that is killed comes back by itself"(page) {
    execFileSync("pkill", ["-9", "-f", `${RAG_LS} lsp`]);
    await page.waitForTimeout(500);
    await page.getByRole("button", { name: /files are indexed/ }).waitFor({ timeout: 60_000 });
    await page.keyboard.press("Control+Alt+f");
    await page.keyboard.type("parse a cookie header", { delay: 20 });
    await page.locator(".quick-input-list .monaco-list-row").nth(1).waitFor({ timeout: 60_000 });
    await page.keyboard.press("Escape");
  },
};

async function command(page, title) {
  await page.keyboard.press("F1");
  const input = page.locator(".quick-input-widget input[type='text']");
  await input.waitFor();
  await input.fill(`>${title}`);
  await page.locator(".quick-input-list .monaco-list-row").first().waitFor();
  await page.waitForTimeout(400);
  await page.keyboard.press("Enter");
  await page.waitForTimeout(400);
}

async function main() {
  prepare();
  const server = spawn(NODE, [entry, ...folders, "--auth", "none", "--bind-addr", `127.0.0.1:${PORT}`, "--disable-telemetry", "--disable-update-check", workspace], {
    env: environment,
    stdio: "ignore",
  });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS.split(" ") });
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(20_000);
  try {
    await page.waitForTimeout(3000);
    await page.goto(`http://127.0.0.1:${PORT}/?folder=${workspace}`);
    await page.locator(".monaco-workbench").waitFor({ timeout: 60_000 });
    for (const [number, [name, step]] of Object.entries(steps).entries()) {
      try {
        await step(page);
        console.log(`ok ${number + 1} - ${name}`);
      } catch (error) {
        console.log(`not ok ${number + 1} - ${name}`);
        throw error;
      } finally {
        await page.screenshot({ path: path.join(shots, `${number + 1}.png`) });
      }
    }
  } finally {
    await browser.close();
    server.kill();
    execFileSync(RAG_LS, ["stop"], { env: environment, stdio: "ignore" });
  }
}

await main();
