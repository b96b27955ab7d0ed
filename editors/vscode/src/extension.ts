// rag-ls in VS Code: starts the language server, and shows what it knows.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { offerToAgents } from "./agent.ts";
import { MemoryDocuments, SCHEME, uriOf } from "./memories/documents.ts";
import { titleOf } from "./memories/groups.ts";
import { Memories } from "./memories/tree.ts";
import { openHit } from "./search/open.ts";
import { pickCode } from "./search/picker.ts";
import { Results } from "./search/results.ts";
import type { CodeAnswer, CodeHit, Memory } from "./server/answers.ts";
import { Server } from "./server/server.ts";
import { StatusPage, followStatus } from "./status.ts";

const run = promisify(execFile);

export function activate(context: vscode.ExtensionContext): void {
  const server = new Server(context.extension.packageJSON);
  const results = new Results();
  const memories = new Memories(server);
  const documents = new MemoryDocuments(server);
  const status = new StatusPage(server);
  context.subscriptions.push(
    server,
    results.register(),
    memories.register(),
    vscode.workspace.registerFileSystemProvider(SCHEME, documents, { isCaseSensitive: true }),
    documents.onDidStore(({ uri, id }) => {
      memories.refresh();
      void replaceDraft(uri, id);
    }),
    server.onChange(() => memories.refresh()),
    followStatus(server),
    status.register(),
    ...offerToAgents(server),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("ragLs.path")) {
        void server.restart();
      } else if (event.affectsConfiguration("ragLs")) {
        void server.tellSettings();
      }
    }),
    ...commands(server, results, memories, documents, status),
  );
  // Not awaited: the editor goes on while the server starts.
  void server.start();
}

function commands(server: Server, results: Results, memories: Memories, documents: MemoryDocuments, status: StatusPage): vscode.Disposable[] {
  const all: Record<string, (...given: never[]) => unknown> = {
    search: () => pickCode(server, (answer) => results.show(answer), selectedText()),
    openHit: (hit: CodeHit) => openHit(hit, { preview: false }),
    clearSearch: () => results.clear(),
    related: () => related(server, results),
    remember: () => remember(server, memories),
    addMemory: () => vscode.window.showTextDocument(documents.draft()),
    searchMemories: () => searchMemories(server),
    editMemory: (memory: Memory) => vscode.window.showTextDocument(uriOf(memory.id)),
    deleteMemory: (memory: Memory) => deleteMemory(server, memories, memory),
    refreshMemories: () => {
      documents.forget();
      memories.refresh();
    },
    status: () => status.show(),
    restart: () => server.restart(),
    stop: () => server.stop(),
    showLog: () => server.log.show(),
    connectClaudeCode: () => connectClaudeCode(server),
  };
  return Object.entries(all).map(([name, work]) =>
    vscode.commands.registerCommand(`ragLs.ui.${name}`, async (...given: never[]) => {
      try {
        await work(...given);
      } catch (error) {
        void vscode.window.showErrorMessage(`rag-ls: ${error instanceof Error ? error.message : String(error)}`);
      }
    }),
  );
}

/** A draft that was stored is the memory's document from now on: another window finds that, and no draft. */
async function replaceDraft(uri: vscode.Uri, id: string): Promise<void> {
  const stored = uriOf(id);
  if (uri.path === stored.path) {
    return;
  }
  await vscode.window.showTextDocument(stored);
  const isDraft = (tab: vscode.Tab): boolean => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri.toString();
  await vscode.window.tabGroups.close(vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(isDraft));
}

function selectedText(): string {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection) ?? "";
  return text.length <= 200 && !text.includes("\n") ? text : "";
}

async function related(server: Server, results: Results): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return;
  }
  const line = editor.selection.active.line + 1;
  const answer = await server.ask<CodeAnswer>("findRelated", { uri: editor.document.uri.toString(), line });
  results.show({ ...answer, query: `related to ${vscode.workspace.asRelativePath(editor.document.uri)}:${line}` });
  await vscode.commands.executeCommand("ragLs.results.focus");
}

async function remember(server: Server, memories: Memories): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const content = editor?.document.getText(editor.selection).trim() ?? "";
  if (!editor || !content) {
    void vscode.window.showInformationMessage("rag-ls: select what is to be remembered.");
    return;
  }
  const place = { uri: editor.document.uri.toString(), line: editor.selection.start.line + 1 };
  // The server itself says what became of it.
  await server.ask("rememberSelection", { ...place, content, scope: "project" });
  memories.refresh();
}

async function searchMemories(server: Server): Promise<void> {
  const query = await vscode.window.showInputBox({ prompt: "What do we know about…", placeHolder: "how do we retry payments" });
  if (!query) {
    return;
  }
  const { results } = await server.ask<{ results: readonly Memory[] }>("searchMemory", { query, k: 20 });
  const items = results.map((memory) => ({ label: titleOf(memory), description: memory.scope, detail: memory.content, memory }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage("rag-ls: nothing is remembered about that.");
    return;
  }
  const chosen = await vscode.window.showQuickPick(items, { title: query, matchOnDetail: true });
  if (chosen) {
    await vscode.window.showTextDocument(uriOf(chosen.memory.id));
  }
}

async function deleteMemory(server: Server, memories: Memories, memory: Memory): Promise<void> {
  await server.ask("deleteMemory", { id: memory.id });
  memories.refresh();
  const undo = await vscode.window.showInformationMessage(`Forgot “${titleOf(memory)}”.`, "Undo");
  if (undo) {
    await server.ask("restoreMemory", { id: memory.id });
    memories.refresh();
  }
}

async function connectClaudeCode(server: Server): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder || !server.path) {
    throw new Error(folder ? "the rag-ls command was not found yet" : "open a folder first");
  }
  const { stdout } = await run(server.path, ["connect", "claude-code", "--write", "--project", folder.uri.fsPath]);
  void vscode.window.showInformationMessage(`rag-ls: ${stdout.trim()}. Start claude there, and approve the server.`);
}

export function deactivate(): void {
  // What was registered is disposed of by the editor.
}
