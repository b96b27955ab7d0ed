// A real VS Code (its server edition, in headless Chromium) with the extension in it, and the hands of a person.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
const QUIET_SETTINGS = { "workbench.startupEditor": "none", "chat.commandCenter.enabled": false, "workbench.tips.enabled": false, "chat.disableAIFeatures": true, "workbench.secondarySideBar.defaultVisibility": "hidden" };
const { CODE_SERVER, CHROMIUM, RAG_LS, NODE = process.execPath } = process.env;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Start it on a copy of a repository, and of some more. `extension: false` leaves ours out, `trust` has it ask whether a folder is
 * trusted, `machine` are the settings of the machine, `onPath` the folders that a user's shell puts on the PATH besides the system's own.
 */
export async function start(repository, { extension = true, trust = false, machine = { "ragLs.path": RAG_LS }, also = [], onPath }) {
  assert.ok(CODE_SERVER && CHROMIUM && RAG_LS, "CODE_SERVER, CHROMIUM and RAG_LS say where these are: see README.md beside this file");
  const scratch = mkdtempSync(path.join(tmpdir(), "rag-ls-vscode-"));
  const workspace = path.join(scratch, path.basename(repository));
  cpSync(repository, workspace, { recursive: true });
  for (const args of [["init", "-q"], ["add", "-A"], ["-c", "user.name=e2e", "-c", "user.email=e2e@example.org", "commit", "-qm", "all"]]) {
    execFileSync("git", args, { cwd: workspace });
  }
  const folders = ["--user-data-dir", path.join(scratch, "user"), "--extensions-dir", path.join(scratch, "extensions")];
  const entry = path.join(CODE_SERVER, "out", "node", "entry.js");
  const env = { ...process.env, RAG_LS_HOME: path.join(scratch, "home") };
  if (onPath) {
    // The editor asks the user's shell for the PATH.
    env.HOME = path.join(scratch, "user-home");
    mkdirSync(env.HOME);
    writeFileSync(path.join(env.HOME, ".profile"), `export PATH=${[...onPath, "/usr/local/bin:/usr/bin:/bin"].join(":")}\n`);
  }
  const write = (place, values) => {
    mkdirSync(path.join(scratch, "user", place), { recursive: true });
    writeFileSync(path.join(scratch, "user", place, "settings.json"), JSON.stringify(values));
  };
  const settings = (values) => write("User", { ...QUIET_SETTINGS, "security.workspace.trust.enabled": trust, ...values });
  write("Machine", machine);
  settings({});
  if (extension) {
    execFileSync(NODE, [entry, ...folders, "--install-extension", path.resolve("rag-ls.vsix")], { env, stdio: "ignore" });
  }
  const more = also.map((each) => {
    const copy = path.join(scratch, path.basename(each));
    cpSync(each, copy, { recursive: true });
    return copy;
  });
  const port = await freePort();
  const server = spawn(NODE, [entry, ...folders, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check", workspace], { env, stdio: "ignore", detached: true });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS.split(" ") });
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  // On a machine with much to do the editor takes long to start its extensions.
  page.setDefaultTimeout(60_000);
  const stop = async () => {
    await browser.close();
    // With all that it has started: none may answer the next run.
    process.kill(-server.pid);
    execFileSync(RAG_LS, ["stop"], { env, stdio: "ignore" });
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  };
  return { page, workspace, more, scratch, env, settings, stop, open: (what) => open(page, port, what ?? `folder=${workspace}`) };
}

async function freePort() {
  const probe = createServer();
  await new Promise((listening) => probe.listen(0, "127.0.0.1", listening));
  const { port } = probe.address();
  await new Promise((closed) => probe.close(closed));
  return port;
}

async function open(page, port, what) {
  for (let tries = 0; ; tries += 1) {
    try {
      await page.goto(`http://127.0.0.1:${port}/?${what}`);
      break;
    } catch (error) {
      if (tries === 60) {
        throw error;
      }
      await page.waitForTimeout(500);
    }
  }
  await page.locator(".monaco-workbench").waitFor({ timeout: 60_000 });
}

/** Wait until the status bar says that the index is whole. */
export async function indexed(page, timeout = 600_000) {
  await page.getByRole("button", { name: /^rag-ls: [\d,]+ files? indexed$/ }).waitFor({ timeout });
}

/** Kill the language server of this editor, and no other one. */
export function killServer(env) {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const [told, command] = ["environ", "cmdline"].map((name) => {
      try {
        return readFileSync(`/proc/${pid}/${name}`, "utf8");
      } catch {
        return "";
      }
    });
    if (told.includes(`RAG_LS_HOME=${env.RAG_LS_HOME}\0`) && /rag-ls\0lsp\0/.test(command)) {
      process.kill(Number(pid), "SIGKILL");
    }
  }
}

/** Run a command by its title. */
export async function command(page, title) {
  await page.keyboard.press("F1");
  const input = page.locator(".quick-input-widget input[type='text']");
  await input.waitFor();
  await input.fill(`>${title}`);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: title.split(": ").at(-1) }).first().waitFor();
  await page.waitForTimeout(300);
  await page.keyboard.press("Enter");
  await page.waitForTimeout(400);
}

/** The frame of one of our pages: the one that holds what a selector names. */
export async function frameWith(page, selector) {
  const until = Date.now() + 20_000;
  while (Date.now() < until) {
    for (const frame of page.frames()) {
      if (await frame.locator(selector).count().catch(() => 0)) {
        return frame;
      }
    }
    await page.waitForTimeout(200);
  }
  throw new Error(`no page holds ${selector}`);
}

/** What axe finds wrong with a page of ours, by WCAG 2.2 A and AA and its own best practices. */
export async function accessibilityFaults(frame) {
  await frame.evaluate(AXE);
  const found = await frame.evaluate(() => globalThis.axe.run(document, { rules: { "page-has-heading-one": { enabled: false }, region: { enabled: false } } }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`);
}

/** Put the caret at the beginning of a line of the editor that has the focus, or at a column of it (`12:4`). */
export async function goToLine(page, line) {
  await page.keyboard.press("Control+g");
  await page.locator(".quick-input-widget input[type='text']").waitFor();
  await page.keyboard.type(String(line));
  await page.keyboard.press("Enter");
  await page.waitForTimeout(300);
}

/** Open a file by its path in the workspace. */
export async function openFile(page, name) {
  await page.keyboard.press("Control+p");
  // Not typed: a view that takes the focus late would get the keys.
  await page.locator(".quick-input-widget input[type='text']:visible").fill(name);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: path.basename(name) }).first().waitFor();
  await page.waitForTimeout(500);
  await page.keyboard.press("Enter");
  await page.locator(".tab.active", { hasText: path.basename(name) }).waitFor();
  await page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
}

/** Select the text of the field that has the focus. */
export async function selectAll(page) {
  await page.keyboard.press("Control+a");
  // The editor hands its own command to a page after the key, which would select what was typed meanwhile, too.
  await page.waitForTimeout(300);
}

/** Run named steps one after the other, with a screenshot after each; the first that fails ends it. `pictures` names those that PICTURES keeps. */
export async function walk(page, steps, shots, pictures = {}) {
  mkdirSync(shots, { recursive: true });
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step();
      console.log(`ok - ${name}`);
    } catch (error) {
      console.log(`not ok - ${name}`);
      throw error;
    } finally {
      const shot = path.join(shots, `${name.replaceAll(/[^\w]+/g, "-").slice(0, 60)}.png`);
      await page.screenshot({ path: shot });
      if (process.env.PICTURES && pictures[name]) {
        copyFileSync(shot, path.join(process.env.PICTURES, `${pictures[name]}.png`));
      }
    }
  }
}
