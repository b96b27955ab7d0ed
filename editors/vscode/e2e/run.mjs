// The extension in a real VS Code, used as a person uses it, with a screenshot of each state. See README.md beside this file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { accessibilityFaults, command, frameWith, goToLine, indexed, killServer, openFile, selectAll, start, walk } from "./editor.mjs";

const [repository, shots] = process.argv.slice(2).map((each) => path.resolve(each));
assert.ok(repository && shots, "node e2e/run.mjs REPOSITORY SCREENSHOTS");
const QUESTION = "where is the session cookie signed";
const { page, workspace, settings, env, stop, open } = await start(repository, {});

// Answers what is asked about selected code.
const remember = async (page, note) => {
  await page.locator(".quick-input-widget input:visible").fill(note);
  await page.keyboard.press("Enter");
};
const memory = (name) => page.getByRole("treeitem", { name }).first();
const search = () => frameWith(page, "#query");
const toast = (text) => page.locator(".notification-list-item", { hasText: text }).first();
/** Press a button of a notification. */
const press = (text, button) => toast(text).getByRole("button", { name: button, exact: true }).click();

const steps = {
  async "the index is built, and the status bar says so"() {
    await indexed(page);
  },
  async "a question shows hits while it is typed, and arrows preview them"() {
    await page.keyboard.press("Control+Alt+f");
    await page.locator(".quick-input-widget").waitFor();
    await page.keyboard.type(QUESTION, { delay: 20 });
    const hits = page.locator(".quick-input-list .monaco-list-row");
    await hits.nth(2).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator(".tab.active .label-name").first().waitFor();
    assert.match((await hits.first().getAttribute("aria-label")) ?? "", /cookie/i);
  },
  async "Enter opens the hit"() {
    await page.keyboard.press("Enter");
    await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    await page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
  },
  async "a name is jumped to among the symbols of the workspace"() {
    await page.keyboard.press("Control+t");
    await page.locator(".quick-input-widget input[type='text']").waitFor();
    await page.keyboard.type("dump_cookie", { delay: 20 });
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "dump_cookie" }).first().waitFor();
    await page.waitForTimeout(300);
    await page.keyboard.press("Enter");
    await page.locator(".tab.active", { hasText: "http.py" }).waitFor();
  },
  async "the search view answers with snippets, and is walked through by keyboard alone"() {
    await page.keyboard.press("Control+Alt+Shift+f");
    const view = await search();
    await view.locator("#query:focus").waitFor();
    await selectAll(page);
    await page.keyboard.type(QUESTION, { delay: 20 });
    await view.locator(".hit mark", { hasText: /cookie/i }).first().waitFor();
    assert.equal(await view.locator("#query").inputValue(), QUESTION);
    const before = await page.locator(".tab.active").getAttribute("aria-label");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await view.locator(".row:focus").waitFor();
    await page.waitForFunction((was) => document.querySelector(".tab.active")?.getAttribute("aria-label") !== was, before);
    assert.ok(await view.locator(".row:focus").count(), "a preview leaves the focus in the list");
  },
  async "Enter opens, Escape comes back, and the left arrow folds a file"() {
    const view = await search();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await view.locator(".group[aria-expanded=false]").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
    await page.keyboard.press("Control+Alt+Shift+f");
    await view.locator("#query:focus").waitFor();
  },
  async "filters narrow the hits, and axe finds nothing wrong"() {
    const view = await search();
    await view.locator("#language option[value=python]").waitFor({ state: "attached" });
    await view.locator("#subject").selectOption("test");
    await view.locator("#language").selectOption("python");
    await view.locator("#folder").fill("tests");
    await page.keyboard.press("Enter");
    await view.locator(".folder", { hasText: /^tests/ }).first().waitFor();
    await view.waitForFunction(() => [...document.querySelectorAll(".folder")].every((each) => each.textContent?.startsWith("tests")));
    assert.deepEqual(await accessibilityFaults(view), []);
  },
  async "a selection is remembered, and is in the Memories view"() {
    await command(page, "rag-ls: Clear Results");
    await openFile(page, "src/werkzeug/http.py");
    await goToLine(page, 1);
    for (let line = 0; line < 3; line += 1) {
      await page.keyboard.press("Shift+ArrowDown");
    }
    await command(page, "rag-ls: Remember Selection");
    await remember(page, "HTTP dates are always in GMT");
    await memory(/^Memory: /).waitFor({ timeout: 30_000 });
  },
  async "hovering tells what is remembered about a function"() {
    const text = readFileSync(path.join(workspace, "src/werkzeug/http.py"), "utf8").split("\n");
    const line = text.findIndex((each) => each.startsWith("def dump_cookie")) + 1;
    await goToLine(page, line);
    await page.keyboard.press("Shift+End");
    await command(page, "rag-ls: Remember Selection");
    await remember(page, "dump_cookie never quotes a path");
    await memory(/dump_cookie/).waitFor({ timeout: 30_000 });
    // What appears above a line moves it, and closes its hover.
    await page.locator(".codelens-decoration:visible", { hasText: "1 memory" }).first().waitFor();
    await goToLine(page, `${line}:8`);
    await command(page, "Show or Focus Hover");
    await page.locator(".monaco-hover:visible", { hasText: /memor/i }).first().waitFor();
  },
  async "a link in a hover leads to the code"() {
    await page.locator(".monaco-hover:visible a", { hasText: "response.py" }).first().click();
    await page.locator(".tab.active", { hasText: "response.py" }).waitFor();
    await page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
  },
  async "code related to the caret is listed"() {
    await command(page, "rag-ls: Find Related Code");
    const view = await search();
    await view.locator("#summary", { hasText: "Related to" }).waitFor();
    await view.locator(".hit", { hasText: "dump_cookie" }).first().waitFor();
  },
  async "code related to selected lines is listed"() {
    await page.locator(".editor-group-container.active .monaco-editor").first().click();
    await goToLine(page, 20);
    for (let line = 0; line < 4; line += 1) {
      await page.keyboard.press("Shift+ArrowDown");
    }
    await command(page, "rag-ls: Find Related Code");
    const view = await search();
    await view.locator("#summary", { hasText: /Related to .*:20-2\d/ }).waitFor();
    assert.ok((await view.locator(".hit").count()) > 0);
  },
  async "a memory leads to the code that it is about, and no id is in its breadcrumb"() {
    await command(page, "rag-ls: Focus on Memories View");
    await memory(/dump_cookie/).click();
    const breadcrumb = page.locator(".editor-group-container.active .breadcrumbs-control", { hasText: "dump_cookie never quotes a path.md" });
    await breadcrumb.waitFor();
    assert.doesNotMatch(await breadcrumb.innerText(), /[0-9a-f]{8}-/);
    await page.locator(".editor-group-container.active .editor-actions").getByRole("button", { name: "Go to Code" }).first().click();
    await page.locator(".tab.active", { hasText: "http.py" }).waitFor();
    await page.locator(".editor-group-container.active .view-line", { hasText: "def dump_cookie" }).first().waitFor();
  },
  async "a memory is written as a document, and saving it stores it"() {
    await command(page, "rag-ls: Add Memory");
    await page.locator(".tab.active", { hasText: "New memory" }).waitFor();
    await page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("Cookies are parsed leniently: old clients send broken ones.");
    await page.keyboard.press("Control+s");
    await memory(/Cookies are parsed leniently/).waitFor({ timeout: 30_000 });
    await page.locator(".tab", { hasText: "New memory" }).waitFor({ state: "detached" });
    await page.locator(".tab.active", { hasText: "Cookies are parsed leniently old.md" }).waitFor();
  },
  async "it is edited, and is so after the window was loaded again"() {
    await memory(/Cookies are parsed leniently/).click();
    await page.keyboard.press("Control+1");
    await page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(" So do some proxies.");
    await page.keyboard.press("Control+s");
    await page.locator(".tab.active.dirty").waitFor({ state: "detached" });
    await page.waitForTimeout(2000);
    await command(page, "Developer: Reload Window");
    await page.waitForTimeout(3000);
    await indexed(page, 120_000);
    await page.locator(".view-line", { hasText: "So do some proxies" }).waitFor();
    await command(page, "rag-ls: Focus on Memories View");
    await memory(/Cookies are parsed leniently/).waitFor();
  },
  async "its history shows what it said before"() {
    await command(page, "rag-ls: Memory History");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "Version 1" }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".tab.active", { hasText: "version 1 and now" }).waitFor();
    await page.locator(".monaco-diff-editor .view-line", { hasText: "So do some proxies" }).first().waitFor();
    await toast("Bring version 1 back?").waitFor();
  },
  async "text that is dropped on the view is remembered"() {
    await command(page, "Notifications: Clear All Notifications");
    const transfer = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.setData("text/plain", "Old clients send broken cookies, so cookies are parsed leniently. So do some proxies.");
      return data;
    });
    const target = memory(/Cookies are parsed leniently/);
    for (const type of ["dragenter", "dragover", "drop"]) {
      await target.dispatchEvent(type, { dataTransfer: transfer });
    }
    await memory(/Old clients send broken cookies/).waitFor();
  },
  async "what consolidation would do is compared, then done"() {
    await command(page, "rag-ls: Consolidate Memories");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "ookies" }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".tab.active", { hasText: "Consolidation: before and after" }).waitFor();
    await page.locator(".monaco-diff-editor .view-line", { hasText: "that say the same" }).first().waitFor();
    await press("Merge 1 memory", "Merge");
    await toast("Merged 1.").waitFor();
    await page.waitForFunction(() => document.querySelectorAll("[role=treeitem][aria-label*='ookies']").length === 1);
  },
  async "and undone"() {
    await press("Merged 1.", "Undo");
    await page.waitForFunction(() => document.querySelectorAll("[role=treeitem][aria-label*='ookies']").length === 2);
    await page.locator(".tab .label-name", { hasText: "Cookies are parsed" }).waitFor();
    await page.locator(".tab .monaco-icon-label.deleted, .tab .monaco-icon-label.strikethrough").waitFor({ state: "detached" });
  },
  async "memories are exported to a file"() {
    await command(page, "rag-ls: Export Memories");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "This project" }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".quick-input-widget", { hasText: "Export Memories" }).waitFor();
    await page.waitForTimeout(1000);
    await page.keyboard.press("Enter");
    await toast("exported").waitFor();
    assert.match(readFileSync(path.join(workspace, "memories.md"), "utf8"), /Cookies are parsed leniently/);
  },
  async "a memory is deleted, and comes back"() {
    await memory(/Old clients send broken/).hover();
    await memory(/Old clients send broken/).getByRole("button", { name: "Delete Memory" }).click();
    await press("Forgot “Old clients", "Undo");
    await memory(/Old clients send broken/).waitFor();
  },
  async "memories are searched in the view"() {
    await command(page, "rag-ls: Search Memories");
    const view = await search();
    await view.locator("#query:focus").waitFor();
    await selectAll(page);
    await page.keyboard.type("why are cookies parsed so leniently", { delay: 10 });
    await view.locator(".hit .label", { hasText: /leniently/ }).first().waitFor();
  },
  async "the status page says whether all is indexed, and axe finds nothing wrong"() {
    await command(page, "Notifications: Clear All Notifications");
    await command(page, "rag-ls: Show Status");
    const status = await frameWith(page, "main .figures");
    await status.getByText("Everything is indexed.").waitFor();
    if (process.env.PICTURES) {
      // Without the name of a folder that nobody has.
      const [top, end] = [await status.locator(".verdict").boundingBox(), await status.locator(".latencies").boundingBox()];
      const clip = { x: top.x - 12, y: top.y - 6, width: top.width + 24, height: end.y - top.y };
      await page.screenshot({ path: path.join(process.env.PICTURES, "vscode-status.png"), clip });
    }
    await status.locator("summary").first().click();
    await status.getByText("Latencies").click();
    await status.getByRole("columnheader", { name: "Half within" }).waitFor();
    assert.deepEqual(await accessibilityFaults(status), []);
  },
  async "the status page is readable in a high contrast theme"() {
    await theme("Default High Contrast", "hc-black");
    await command(page, "rag-ls: Show Status");
    assert.deepEqual(await accessibilityFaults(await frameWith(page, "main .figures")), []);
  },
  async "so is the search view"() {
    await command(page, "View: Close All Editors");
    const view = await asked();
    assert.deepEqual(await accessibilityFaults(view), []);
  },
  async "and both in a light one of high contrast"() {
    await theme("Default High Contrast Light", "hc-light");
    await command(page, "rag-ls: Show Status");
    const status = await frameWith(page, "main .figures");
    assert.deepEqual(await accessibilityFaults(status), []);
    assert.deepEqual(await accessibilityFaults(await asked()), []);
  },
  async "a server that is killed comes back by itself"() {
    await theme("Dark 2026", "vs-dark");
    killServer(env);
    await page.waitForTimeout(500);
    await indexed(page, 60_000);
    await asked();
  },
  async "where no server runs, the status page says why, and starts it"() {
    await command(page, "rag-ls: Stop Server");
    await command(page, "rag-ls: Show Status");
    const status = await frameWith(page, "main button");
    assert.deepEqual(await accessibilityFaults(status), []);
    await status.getByRole("button", { name: "Restart Server" }).click();
    await indexed(page, 60_000);
    await status.locator(".dot.good").waitFor();
  },
  async "the walkthrough is there"() {
    await command(page, "Welcome: Open Walkthrough");
    await page.keyboard.type("rag-ls");
    await page.waitForTimeout(500);
    await page.keyboard.press("Enter");
    await page.locator(".gettingStartedContainer", { hasText: "Ask your code a question" }).waitFor();
  },
};

/** Load the window again with another colour theme. */
async function theme(name, kind) {
  settings({ "workbench.colorTheme": name });
  await command(page, "Developer: Reload Window");
  await page.locator(`.monaco-workbench.${kind}`).waitFor({ timeout: 60_000 });
  await indexed(page, 60_000);
}

/** Ask the search view the question again. */
async function asked() {
  await command(page, "rag-ls: Clear Results");
  const view = await search();
  await view.locator("#query:focus").waitFor();
  await page.keyboard.type(QUESTION, { delay: 20 });
  await view.locator(".hit mark", { hasText: /cookie/i }).first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.waitForTimeout(500);
  return view;
}

try {
  await open();
  await walk(page, steps, shots, {
    "the search view answers with snippets, and is walked through by keyboard alone": "vscode-search",
    "hovering tells what is remembered about a function": "vscode-hover",
    "what consolidation would do is compared, then done": "vscode-consolidation",
  });
} finally {
  await stop();
}
