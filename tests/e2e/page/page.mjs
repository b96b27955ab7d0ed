// The page in headless Chromium, with the hands of a person: each step is a line, each view a picture that axe has looked at.
// Started by scripts/e2e_page.py, which sets FORM, PROJECT, LINK, CHROMIUM, MODULES and SHOTS.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const { FORM, PROJECT, LINK, CHROMIUM, MODULES, SHOTS } = process.env;
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

const hits = () => page.locator("#hits > li");
const file = () => page.getByRole("group", { name: "The file" });
const address = () => new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
const blur = () => page.evaluate(() => { document.activeElement.blur(); });

await step("the private file signs in, and the page shows the project that it was opened in", async () => {
  assert.match(readFileSync(new URL(FORM), "utf8"), new RegExp(`#search\\?project=${encodeURIComponent(PROJECT)}"`));
  await page.goto(FORM);
  await page.getByRole("combobox", { name: "Question" }).waitFor();
  assert.equal(address().get("project"), path.basename(PROJECT));
  await page.reload();
  await page.getByRole("combobox", { name: "Question" }).waitFor();
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes("ragls_")), false, "the token is this tab's alone");
});

await step("a link signs in, once", async () => {
  const [first, again] = [await (await browser.newContext()).newPage(), await (await browser.newContext()).newPage()];
  await first.goto(LINK);
  await first.getByRole("combobox", { name: "Question" }).waitFor();
  await again.goto(LINK);
  assert.match(await again.textContent("body"), /rag-ls open/);
  await first.close();
  await again.close();
});

await step("before a question the page says what to ask, and by which keys", async () => {
  await page.getByText("comes here from anywhere").waitFor();
  await look("welcome");
});

await step("hits come while one types, the file of the first beside them, in colours and with the question's words marked", async () => {
  await page.keyboard.type("how are cookies parsed", { delay: 30 });
  await page.locator("#hits mark", { hasText: /^cookie/i }).first().waitFor();
  await file().locator(".line.hit").first().waitFor();
  const marks = new Set((await page.locator("#hits mark").allTextContents()).map((text) => text.toLowerCase()));
  assert.ok(marks.has("cookies") || marks.has("cookie"));
  assert.ok(!marks.has("are"));
  for (const kind of ["keyword", "string"]) assert.ok(await file().locator(`.${kind}`).count() > 0, kind);
  assert.equal(await page.evaluate(() => [...document.querySelectorAll("#hits *")].filter((each) => ["auto", "scroll"].includes(getComputedStyle(each).overflowX)).length), 0, "no scrollbar inside a hit");
  await look("search");
});

await step("the keyboard alone: arrows choose, the file follows, Enter opens the editor at the line, Escape comes back", async () => {
  await blur();
  await page.keyboard.press("/");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator('[role="option"][aria-selected="true"]').getAttribute("id"), "hit-1");
  assert.equal(await page.locator("#query").getAttribute("aria-activedescendant"), "hit-1");
  const [name, line] = (await page.locator("#hit-1 .place .name").first().textContent()).split(":");
  await page.getByRole("link", { name: `Open line ${line}`, exact: true }).waitFor();
  assert.equal(await page.locator(".file h3").evaluate((head) => head.lastChild.textContent), name);
  const scrolled = await file().evaluate((shown) => { shown.scrollTop = 0; return shown.scrollHeight > shown.clientHeight; });
  await page.keyboard.press("PageDown");
  if (scrolled) assert.ok(await file().evaluate((shown) => shown.scrollTop) > 0);
  await page.evaluate(() => document.addEventListener("click", (event) => { if (event.target.matches("a.open")) { window.opened = event.target.href; event.preventDefault(); } }, { once: true }));
  await page.keyboard.press("Enter");
  assert.match(await page.evaluate(() => window.opened), new RegExp(`^vscode://file/.*${name}:${line}$`));
  await file().focus();
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.id), "query");
});

await step("the question, its filters and the project stand in the address, and come back with it", async () => {
  await page.getByRole("checkbox", { name: "Memories" }).uncheck();
  await page.getByLabel("Files").fill("*.py");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => location.hash.includes("path="));
  assert.deepEqual([address().get("q"), address().get("in"), address().get("path")], ["how are cookies parsed", "code,rules", "*.py"]);
  assert.ok(address().get("project"));
  await page.reload();
  await hits().first().waitFor();
  assert.equal(await page.locator("#query").inputValue(), "how are cookies parsed");
  assert.equal(await page.getByRole("checkbox", { name: "Memories" }).isChecked(), false);
  assert.equal(await page.getByLabel("Files").inputValue(), "*.py");
  await page.getByRole("checkbox", { name: "Memories" }).check();
  await page.getByLabel("Files").fill("");
});

await step("on a narrow screen a hit shows its file in place of the hits, and a button comes back", async () => {
  await page.setViewportSize({ width: 320, height: 700 });
  assert.equal(await file().isVisible(), false);
  await hits().nth(1).click();
  await file().locator(".line.hit").first().waitFor();
  await look("file");
  await page.setViewportSize({ width: 320, height: 700 });
  await page.getByRole("button", { name: "Back to the hits" }).click();
  await hits().first().waitFor();
  await page.setViewportSize({ width: WIDTHS[0], height: 900 });
});

await step("exact text and regular expressions find every line, counted, with case and whole words as one wants", async () => {
  await page.getByLabel("Find by").selectOption("exact");
  await page.locator("#query").fill("Parse_Address");
  await page.getByText(/^[\d,]+ lines? in [\d,]+ files?/).waitFor();
  const all = Number((await page.getByText(/^[\d,]+ lines? in/).textContent()).split(" ")[0].replace(",", ""));
  assert.ok(all > 0);
  await file().locator(".line.hit", { hasText: /parse_address/i }).first().waitFor();
  assert.deepEqual(new Set(await page.locator("mark").allTextContents()), new Set(["parse_address"]));
  await look("exact");
  await page.getByRole("checkbox", { name: "Match case" }).check();
  await page.getByText("No line holds it.").waitFor();
  await page.getByLabel("Find by").selectOption("regex");
  await page.locator("#query").fill("def \\w+\\(");
  await hits().first().waitFor();
  assert.deepEqual([address().get("match"), address().get("case")], ["regex", "1"]);
  await page.reload();
  await hits().first().waitFor();
  assert.equal(await page.getByLabel("Find by").inputValue(), "regex");
  await page.getByLabel("Find by").selectOption("auto");
  await page.locator("#query").fill("how are cookies parsed");
  await hits().first().waitFor();
});

await step("all projects are searched where that is chosen, and each hit names its own", async () => {
  const [name] = await page.getByLabel("Project").locator("option").allTextContents();
  await page.getByLabel("Project").selectOption("All projects");
  await page.locator("#hits .tag", { hasText: name }).first().waitFor();
  assert.equal(address().get("project"), "all");
  await page.getByLabel("Project").selectOption(name);
  await hits().first().waitFor();
});

await step("a hit opens in the chosen editor at its line", async () => {
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

/** The line of a memory in the list. */
const memory = (text) => page.locator("ol.list summary", { hasText: text });

async function remember(text) {
  if (!(await page.getByLabel("What to remember").isVisible())) await page.getByText("Remember something").click();
  await page.getByLabel("What to remember").fill(text);
}

await step("a memory is one line until it is opened; written, changed, brought back, deleted and kept after all", async () => {
  await page.getByRole("link", { name: "Memories" }).click();
  await remember("Retries wait twice as long each time.\nThe first waits a second.");
  await page.getByLabel("Tags").fill("retries, http");
  await page.getByRole("button", { name: "Remember" }).click();
  await memory("Retries wait").waitFor();
  assert.equal(await page.getByText("The first waits a second.").isVisible(), false);
  await memory("Retries wait").click();
  await page.getByText("The first waits a second.").waitFor();
  await look("memories");
  await page.getByRole("link", { name: "Edit, history" }).click();
  await page.getByLabel("Text").fill("Retries wait three times as long.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Bring version 1 back" }).waitFor();
  await look("memory");
  await page.getByRole("button", { name: "Bring version 1 back" }).click();
  await page.getByText("Version 1 is back").waitFor();
  await page.getByRole("link", { name: "All memories" }).click();
  await memory("Retries wait").click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: /^Undo: 1 memory deleted, / }).waitFor();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByRole("button", { name: /1 memory deleted/ }).waitFor({ state: "detached" });
  await memory("twice as long").waitFor();
});

await step("what says the same is merged after a look, and taken back by a button that says what it takes back", async () => {
  await remember("Retries wait twice as long each time.\nThe first waits a second");
  await page.getByRole("button", { name: "Remember" }).click();
  await page.getByText("2 memories", { exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: /merged/ }).count(), 0, "nothing was merged yet");
  await page.getByRole("link", { name: "Merge what says the same" }).click();
  await page.getByText("would become one memory each").waitFor();
  await look("merge");
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByText("1 memory", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Undo: 2 memories merged, \d\d:\d\d$/ }).click();
  await page.getByText("1 memory would come back, 1 memory would change.").waitFor();
  await page.getByRole("button", { name: "Take it back" }).click();
  await page.getByText("2 memories", { exact: true }).waitFor();
});

/** What another program stores meanwhile. */
async function storeElsewhere(content) {
  const token = await page.evaluate(() => sessionStorage.getItem("rag-ls.token"));
  const answer = await fetch(new URL("/api/store_memory", LINK), { method: "POST", headers: { "X-RAG-Token": token, "Content-Type": "application/json" }, body: JSON.stringify({ content, scope: "global" }) });
  assert.equal(answer.status, 200);
}

await step("a memory that another program writes appears by itself", async () => {
  await blur();
  await storeElsewhere("Deploys happen on Tuesdays.");
  await memory("Deploys happen on Tuesdays.").waitFor();
});

await step("what somebody is writing stays, whatever others write", async () => {
  await remember("Half a thought");
  await blur();
  await storeElsewhere("Releases happen on Thursdays.");
  await page.waitForTimeout(1500);
  assert.equal(await page.getByLabel("What to remember").inputValue(), "Half a thought");
  await page.getByLabel("What to remember").fill("");
});

await step("a memory about a line links to the code, and its tags can be changed", async () => {
  await remember("Host names are compared without the port.");
  await page.locator("form select").selectOption({ index: 0 });
  await page.getByLabel("About the file").fill("address.py");
  await page.getByLabel("at line").fill("40");
  await page.getByRole("button", { name: "Remember" }).click();
  await memory("Host names").click();
  const opened = page.locator("details[open]", { hasText: "Host names" });
  assert.match(await opened.locator("a.editor").getAttribute("href"), /http\/address\.py:\d+$/);
  await opened.getByRole("link", { name: "Edit, history" }).click();
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

await step("what a text holds is shown as text, in a memory, a hit and a file, and code in colours is the code", async () => {
  const hostile = '<img src=x onerror="window.harm=1"><b>Wednesdays</b>';
  await storeElsewhere(hostile);
  await page.getByRole("link", { name: "Memories", exact: true }).click();
  await memory("Wednesdays").waitFor();
  await page.getByRole("link", { name: "Search" }).click();
  await page.locator("#query").fill("what about Wednesdays");
  await page.locator("#hits .label", { hasText: hostile }).first().waitFor();
  assert.deepEqual(await page.evaluate(() => [window.harm, document.querySelectorAll("main img, main b").length]), [undefined, 0]);
  const lost = await page.evaluate(async () => {
    const { colouredLines } = await import("/page/colours.js");
    const texts = ["def f(a):\n    return 'é' # <b>\n", "'".repeat(999), "{-".repeat(999), "\"" + "\\\"".repeat(999), "/* `", "<a href='x>"];
    return ["python", "rust", "haskell", "html", "markdown", "lisp", ""].flatMap((language) => texts.filter((text) => colouredLines(text, language).map((line) => line.map((part) => part.text).join("")).join("\n") !== text));
  });
  assert.deepEqual(lost, []);
});

await step("status says whether everything is indexed, what it costs and who is connected; latencies are one table", async () => {
  await page.getByRole("link", { name: "Status" }).click();
  await page.getByText("Everything is indexed.").waitFor();
  await page.getByText(/^\d+ %$/).waitFor();
  await page.getByText("This page").waitFor();
  await page.locator("summary.head").first().click();
  await page.getByText("Nothing is skipped.").or(page.locator("details ul > li").first()).waitFor();
  await page.getByText("Latencies").click();
  await page.getByRole("row", { name: /list memories/ }).waitFor();
  await page.getByRole("region", { name: "Latencies" }).focus();
  await page.waitForTimeout(4500);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Latencies", "the focus stays");
  assert.ok(await page.locator("details[open]", { hasText: "Compare with the files" }).isVisible(), "what is open stays so");
  await look("status");
});

await step("the link for the keyboard leads past the head of the page, in the same view", async () => {
  await page.locator("a.skip").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "view");
  assert.equal(new URL(page.url()).hash.split("?")[0], "#status");
});

await step("nothing came from another host, and the browser complained of nothing", async () => {
  assert.deepEqual(strangers, []);
  assert.deepEqual(complaints, []);
});

await browser.close();
process.exit(failed ? 1 : 0);
