// The page in headless Chromium, with the hands of a person: each step is a line, each view a picture that axe has looked at.
// Started by scripts/e2e_page.py, which sets FORM, LINK, STOP, CHROMIUM, MODULES and SHOTS.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { execSync } from "node:child_process";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

const { FORM, LINK, STOP, CHROMIUM, MODULES, SHOTS } = process.env;
const require = createRequire(path.join(MODULES, "package.json"));
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const WIDTHS = [1280, 320];
mkdirSync(SHOTS, { recursive: true });

const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
// axe is put in by the browser, not by the page, so the page's policy stays as it is served.
const page = await browser.newPage({ viewport: { width: WIDTHS[0], height: 900 } });
page.setDefaultTimeout(20_000);
const complaints = [], strangers = [];
page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
page.on("pageerror", (error) => complaints.push(error.message));
page.on("request", (request) => { if (!request.url().startsWith("file:") && new URL(request.url()).host !== new URL(LINK).host && !request.url().startsWith("data:")) strangers.push(request.url()); });

let failed = 0;
async function step(name, work) {
  try {
    await work();
    console.log(`ok     ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${name}: ${error.message}`);
    await page.screenshot({ path: path.join(SHOTS, `failed-${failed}.png`) });
  }
}

/** A picture of the view in each width and theme; axe finds nothing, and nothing is wider than the window. */
async function look(name) {
  for (const theme of ["light", "dark"]) {
    await page.getByLabel("Theme").selectOption(theme);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: path.join(SHOTS, `${name}-${theme}-${width}.png`) });
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => window.axe.run());
      assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${name} is wider than ${width} pixels`);
    }
  }
  await page.setViewportSize({ width: WIDTHS[0], height: 900 });
}

const results = () => page.locator("ol.list > li");

await step("the private file signs in", async () => {
  await page.goto(FORM);
  await page.getByRole("heading", { name: "Search" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Search" }).waitFor();
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes("ragls_")), false, "the token is this tab's alone");
});

await step("a link signs in, once", async () => {
  const [first, again] = [await (await browser.newContext()).newPage(), await (await browser.newContext()).newPage()];
  await first.goto(LINK);
  await first.getByRole("heading", { name: "Search" }).waitFor();
  await again.goto(LINK);
  assert.match(await again.textContent("body"), /rag-ls open/);
  await first.close();
  await again.close();
});

await step("results come while one types, with the question's words marked", async () => {
  await page.keyboard.type("how are cookies parsed", { delay: 30 });
  await results().first().waitFor();
  const marks = new Set((await page.locator("pre mark").allTextContents()).map((text) => text.toLowerCase()));
  assert.ok(marks.has("cookies") || marks.has("cookie"));
  assert.ok(!marks.has("are"));
  await look("search");
});

await step("the keyboard alone: down, Enter shows the file at the place, Escape comes back", async () => {
  await page.locator("#query").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const hit = page.locator("pre.whole .hit").first();
  await hit.waitFor();
  assert.ok(await hit.isVisible());
  await look("preview");
  await page.keyboard.press("Escape");
  assert.ok(await page.evaluate(() => document.activeElement.matches(".card[aria-current] a.place")), "back at the result");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.id), "query");
});

await step("a result opens in the chosen editor at its line", async () => {
  await page.getByLabel("Editor").selectOption("Zed");
  await page.locator('a.editor[href^="zed://file/"]').first().waitFor();
  assert.match(await page.locator("a.editor").first().getAttribute("href"), /:\d+$/);
});

await step("a question that finds nothing says what to do", async () => {
  await page.getByRole("checkbox", { name: "Code" }).uncheck();
  await page.locator("#query").fill("zzzz qqqq");
  await page.getByText("Nothing found").waitFor();
  await page.getByRole("checkbox", { name: "Code" }).check();
});

await step("a memory is written, changed, brought back, deleted and kept after all", async () => {
  await page.getByRole("link", { name: "Memories" }).click();
  await page.getByLabel("What to remember").fill("Retries wait twice as long each time.");
  await page.getByLabel("Tags").fill("retries, http");
  await page.getByRole("button", { name: "Remember" }).click();
  await page.locator("li .content", { hasText: "Retries wait" }).waitFor();
  await look("memories");
  await page.getByRole("link", { name: "Edit and history" }).click();
  await page.getByLabel("Text").fill("Retries wait three times as long.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Bring version 1 back" }).waitFor();
  await look("memory");
  await page.getByRole("button", { name: "Bring version 1 back" }).click();
  await page.getByText("Version 1 is back").waitFor();
  await page.getByRole("link", { name: "All memories" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.locator("li .content", { hasText: "twice as long" }).waitFor();
});

await step("what says the same is merged after a look, and taken back", async () => {
  await page.getByLabel("What to remember").fill("Retries wait twice as long every time.");
  await page.getByRole("button", { name: "Remember" }).click();
  await page.getByText("2 memories").waitFor();
  await page.getByRole("link", { name: "Merge what says the same" }).click();
  await page.getByText("These would become one each").waitFor();
  await look("merge");
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByText("1 memory").waitFor();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("2 memories").waitFor();
});

/** What another program stores meanwhile. */
async function storeElsewhere(content) {
  const token = await page.evaluate(() => JSON.parse(sessionStorage.getItem("rag-ls.token")).token);
  const answer = await fetch(new URL("/api/store_memory", LINK), { method: "POST", headers: { "X-RAG-Token": token, "Content-Type": "application/json" }, body: JSON.stringify({ content, scope: "global" }) });
  assert.equal(answer.status, 200);
}

await step("a memory that another program writes appears by itself", async () => {
  await page.locator("#view").evaluate(() => { document.activeElement.blur(); });
  await storeElsewhere("Deploys happen on Tuesdays.");
  await page.getByText("Deploys happen on Tuesdays.").waitFor();
});

await step("what somebody is writing stays, whatever others write", async () => {
  await page.getByLabel("What to remember").fill("Half a thought");
  await page.locator("#view").evaluate(() => { document.activeElement.blur(); });
  await storeElsewhere("Releases happen on Thursdays.");
  await page.waitForTimeout(1500);
  assert.equal(await page.getByLabel("What to remember").inputValue(), "Half a thought");
  await page.getByLabel("What to remember").fill("");
});

await step("a memory about a line links to the code, and its tags can be changed", async () => {
  await page.getByLabel("What to remember").fill("Host names are compared without the port.");
  await page.locator("form select").selectOption({ index: 1 });
  await page.getByLabel("About the file").fill("address.py");
  await page.getByLabel("at line").fill("40");
  await page.getByRole("button", { name: "Remember" }).click();
  const card = page.locator("article.card", { hasText: "Host names" });
  assert.match(await card.locator("a.editor").getAttribute("href"), /http\/address\.py:\d+$/);
  await card.getByRole("link", { name: "Edit and history" }).click();
  await page.getByRole("button", { name: "Save" }).waitFor();
  await page.getByLabel("Tags").fill("http, names");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("http · names").waitFor();
  await look("memory-about-code");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("link", { name: "Deleted ones" }).click();
  await page.getByRole("button", { name: "Bring it back" }).first().click();
  await page.getByText("It is back").waitFor();
  await look("deleted");
});

await step("projects show what is skipped, and why", async () => {
  await page.getByRole("link", { name: "Projects" }).click();
  await page.getByText("Skipped files and how it stands").click();
  await page.getByText("Nothing is skipped.").or(page.locator("details li").first()).waitFor();
  await look("projects");
});

await step("status shows clients and plots, and goes on", async () => {
  await page.getByRole("link", { name: "Status" }).click();
  await page.locator("svg").first().waitFor();
  await page.getByRole("cell", { name: "http" }).first().waitFor();
  await page.getByRole("region", { name: "Clients" }).focus();
  await page.waitForTimeout(4500);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Clients", "the focus stays");
  await look("status");
});

await step("the link for the keyboard leads past the head of the page, in the same view", async () => {
  await page.locator("a.skip").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "view");
  assert.equal(new URL(page.url()).hash, "#status");
});

await step("nothing came from another host, and the browser complained of nothing", async () => {
  assert.deepEqual(strangers, []);
  assert.deepEqual(complaints, []);
});

await step("who listens at the engine's address while it is down gets no token, no question and no text", async () => {
  await page.getByRole("link", { name: "Memories" }).click();
  await page.getByLabel("What to remember").fill("Zanzibar is where the treasure lies.");
  execSync(STOP);
  const asked = [];
  const impostor = createServer((request, answer) => {
    asked.push(`${request.method} ${request.url.split("?")[0]} ${JSON.stringify(request.headers)}`);
    request.on("data", (part) => asked.push(String(part)));
    answer.setHeader("Content-Type", "application/json").end(JSON.stringify({ proof: "0".repeat(64), memories: [], total: 0 }));
  }).listen(Number(new URL(LINK).port), "127.0.0.1");
  await page.getByRole("button", { name: "Remember" }).click();
  await page.getByText("Another program answers at this address").or(page.getByText("You are signed out")).waitFor();
  await page.getByRole("link", { name: "Status" }).click();
  await page.waitForTimeout(3000);
  impostor.close();
  assert.ok(asked.some((line) => line.startsWith("GET /prove ")));
  assert.deepEqual(asked.filter((line) => !line.startsWith("GET /prove ") || /ragls_|zanzibar/i.test(line)), []);
});

await browser.close();
process.exit(failed ? 1 : 0);
