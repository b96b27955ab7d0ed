// Windows that are not like the others: a folder that nobody trusts yet, several folders, no server. See README.md beside this file.
// UV is the folder of uv; without it, the installation is left out.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { command, frameWith, indexed, start, walk } from "./editor.mjs";

const [repository, shots, another] = process.argv.slice(2).map((each) => path.resolve(each));
assert.ok(repository && shots && another, "node e2e/windows.mjs REPOSITORY SCREENSHOTS ANOTHER_REPOSITORY");
const { RAG_LS, UV } = process.env;

async function inWindow(options, stepsOf) {
  const editor = await start(repository, options);
  try {
    await walk(editor.page, stepsOf(editor), shots);
  } finally {
    await editor.stop();
  }
}

async function ask(page, question) {
  await command(page, "rag-ls: Search in the Side Bar");
  const view = await frameWith(page, "#query");
  await view.locator("#query:focus").waitFor();
  await page.keyboard.type(question, { delay: 20 });
  await view.locator(".hit mark").first().waitFor();
  return view;
}

await inWindow({ trust: true, machine: {}, onPath: [path.dirname(RAG_LS)] }, ({ page, workspace, open }) => {
  const planted = path.join(workspace, ".venv", "bin");
  const witness = path.join(workspace, "it-ran");
  return {
    async "in a folder that nobody trusts search works, and nothing that lies in it is run"() {
      mkdirSync(planted, { recursive: true });
      writeFileSync(path.join(planted, "rag-ls"), `#!/bin/sh\ntouch ${witness}\nexit 1\n`, { mode: 0o755 });
      mkdirSync(path.join(workspace, ".vscode"), { recursive: true });
      writeFileSync(path.join(workspace, ".vscode", "settings.json"), JSON.stringify({ "ragLs.path": path.join(planted, "rag-ls") }));
      await open();
      await page.getByText("Restricted Mode is intended for safe code browsing").waitFor();
      await indexed(page);
      const view = await ask(page, "parse a cookie header");
      assert.ok((await view.locator(".hit").count()) > 2);
      assert.ok(!existsSync(witness));
    },
    async "once it is trusted its own settings count"() {
      await command(page, "Workspaces: Manage Workspace Trust");
      await page.locator(".workspace-trust-editor").getByRole("button", { name: "Trust", exact: true }).click();
      await page.getByRole("button", { name: /does not run/ }).waitFor();
      assert.ok(existsSync(witness));
    },
  };
});

await inWindow({ also: [another] }, ({ page, workspace, more, scratch, open }) => ({
  async "with several folders hits come from all of them, named by their folder"() {
    const file = path.join(scratch, "both.code-workspace");
    writeFileSync(file, JSON.stringify({ folders: [{ path: workspace }, { path: more[0] }] }));
    await open(`workspace=${file}`);
    // Now and then a window of a new workspace file has no folders, in the Explorer either.
    const told = page.getByRole("button", { name: /^rag-ls: (.* indexed|no folder is open)$/ });
    for (let tries = 0; tries < 5; tries += 1) {
      await told.waitFor();
      if (/indexed/.test(await told.getAttribute("aria-label"))) {
        break;
      }
      await page.reload();
    }
    await indexed(page);
    const view = await ask(page, "parse the content type header");
    const named = (folder) => view.locator(".folder", { hasText: new RegExp(`^${path.basename(folder)}(/|$)`) }).first();
    await named(workspace).waitFor();
    await named(more[0]).waitFor();
  },
}));

if (UV) {
  const source = path.resolve("../..");
  await inWindow({ machine: { "ragLs.installFrom": source }, onPath: [UV] }, ({ page, open }) => {
    const notification = (text) => page.locator(".notification-list-item", { hasText: text }).first();
    return {
      async "without a server it says what to do"() {
        await open();
        await notification("was not found").waitFor();
      },
      async "and does it, with progress"() {
        await notification("was not found").getByRole("button", { name: "Install…" }).click();
        await notification("Installing rag-ls with uv").waitFor();
        await page.waitForTimeout(3000);
      },
      async "then it runs"() {
        await indexed(page, 600_000);
        await ask(page, "parse a cookie header");
      },
    };
  });
}
