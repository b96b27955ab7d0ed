// Rules in a real VS Code: what breaks one is underlined as it is typed, with its quick fixes; the lens counts uses.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { command, goToLine, indexed, openFile, start, walk } from "./editor.mjs";

const [repository, shots] = process.argv.slice(2).map((each) => path.resolve(each));
assert.ok(repository && shots, "node e2e/rules.mjs REPOSITORY SCREENSHOTS");
const { page, workspace, stop, open } = await start(repository, {});
const RULES = `rules:
  - id: no-print
    language: python
    forbid: print($$$)
    message: Libraries log, they do not print
`;
writeFileSync(path.join(workspace, "ARCHITECTURE.yml"), RULES);

const underlined = () => page.locator(".monaco-editor .squiggly-error").first();
const fix = (title) => page.locator(".action-widget .action", { hasText: title }).first();
const line = (text) => page.locator(".editor-group-container.active .view-line", { hasText: text }).first();

const steps = {
  async "what breaks a rule is underlined as it is typed"() {
    await indexed(page);
    await openFile(page, "src/werkzeug/http.py");
    await page.keyboard.press("Control+End");
    await page.keyboard.press("Enter");
    await page.keyboard.type("print(1)");
    await underlined().waitFor();
  },
  async "the hover tells the rule"() {
    await page.keyboard.press("Home");
    await command(page, "Show or Focus Hover");
    await page.locator(".monaco-hover:visible", { hasText: "Libraries log, they do not print" }).first().waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
  },
  async "quick fixes show the rule, suppress it and remember the exception"() {
    await page.keyboard.press("Control+.");
    for (const title of ["Suppress no-print here", "Remember this exception to no-print", "Show the rule no-print"]) {
      await fix(title).waitFor();
    }
  },
  async "an exception wants a reason"() {
    await fix("Suppress no-print here").click();
    await line("rag-ls: ignore[no-print]").waitFor();
    await underlined().waitFor();
    await line("rag-ls: ignore[no-print]").click();
    await page.keyboard.press("End");
    await page.keyboard.type(" shown to the user");
    await underlined().waitFor({ state: "detached" });
  },
  async "the exception is remembered"() {
    await page.keyboard.press("Control+End");
    await page.keyboard.press("Enter");
    await page.keyboard.type("print(2)");
    await underlined().waitFor();
    await page.keyboard.press("Control+.");
    await fix("Remember this exception to no-print").click();
    await command(page, "rag-ls: Focus on Memories View");
    await page.getByRole("treeitem", { name: /xception to the rule no-print/ }).first().waitFor({ timeout: 30_000 });
  },
  async "the rule is shown"() {
    await line("print(2)").click();
    await page.keyboard.press("Control+.");
    await fix("Show the rule no-print").click();
    await page.locator(".tab.active", { hasText: "ARCHITECTURE.yml" }).waitFor();
  },
  async "a rule that is wrong is told in its file"() {
    await page.keyboard.press("Control+End");
    await page.keyboard.type("  - id: [broken");
    await underlined().waitFor();
  },
  async "a lens counts the uses of a name, and shows them"() {
    await openFile(page, "src/werkzeug/utils.py");
    const text = readFileSync(path.join(workspace, "src/werkzeug/utils.py"), "utf8").split("\n");
    await goToLine(page, text.findIndex((each) => each.startsWith("def get_content_type")) + 1);
    // One above it may be half hidden below the editor's upper edge.
    const lens = page.locator(".codelens-decoration:visible a", { hasText: /used in \d+ file/ }).last();
    await lens.waitFor({ timeout: 30_000 });
    await lens.click();
    await page.locator(".peekview-widget", { hasText: "response.py" }).first().waitFor();
  },
};

try {
  await open();
  await walk(page, steps, shots, {});
} finally {
  await stop();
}
