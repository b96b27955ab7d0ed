// rag-ls in VS Code: starts the language server, and shows what it knows.
import * as vscode from "vscode";
import { offerToAgents } from "./agent.ts";
import { memoryCommands } from "./memories/commands.ts";
import { MemoryDocuments, uriOf } from "./memories/documents.ts";
import { askForNote } from "./memories/note.ts";
import { Memories } from "./memories/tree.ts";
import { plain } from "./quoting.ts";
import { ReadOnlyDocuments } from "./readonly.ts";
import { searchCommands } from "./search/commands.ts";
import { SearchView } from "./search/view.ts";
import { Server } from "./server/server.ts";
import { pickFolder, shell } from "./server/shell.ts";
import type { Memory } from "./server/answers.ts";
import { followStatus } from "./status/bar.ts";
import { StatusPage } from "./status/page.ts";
import { tell, told } from "./told.ts";

export function activate(context: vscode.ExtensionContext): void {
  const server = new Server(context.extension.packageJSON, context.globalStorageUri.fsPath);
  server.askForNote = askForNote;
  const search = new SearchView(server, context.extensionUri);
  const documents = new MemoryDocuments(server);
  const memories = new Memories(server, documents);
  const views = new ReadOnlyDocuments();
  const status = new StatusPage(server, context.extensionUri);
  context.subscriptions.push(
    server,
    search.register(),
    memories.register(),
    views.register(),
    status,
    documents.register(),
    documents.onDidStore(({ uri, memory }) => {
      memories.refresh();
      told(replaceDraft(uri, memory));
    }),
    server.onChange(() => memories.refresh()),
    server.onEvents((events) => {
      if (events.some(({ type }) => type === "memoryChanged" || type === "anchorsMoved")) {
        memories.refresh();
        told(documents.refresh());
      }
    }),
    followStatus(server),
    ...offerToAgents(server),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("ragLs.path")) {
        void server.restart();
      } else if (event.affectsConfiguration("ragLs")) {
        void server.tellSettings();
      }
    }),
    // What lies in the folder counts from now on: its own environment, its own settings.
    vscode.workspace.onDidGrantWorkspaceTrust(() => void server.restart()),
    ...registered({
      ...searchCommands(server, search),
      ...memoryCommands(server, memories, documents, views),
      ...serverCommands(server),
      status: () => status.show(),
    }),
  );
  // Not awaited: the editor goes on while the server starts.
  void server.start();
}

function serverCommands(server: Server) {
  return {
    restart: () => server.restart(),
    stop: () => server.stop(),
    install: () => server.install(),
    showLog: () => server.log.show(),
    connectClaudeCode: async () => {
      const folder = await pickFolder();
      if (folder) {
        const said = await shell(server, folder, "connect", "claude-code", "--write");
        void vscode.window.showInformationMessage(`rag-ls: ${plain(said)}. Start claude there, and approve the server.`);
      }
    },
  };
}

function registered(commands: Record<string, (...given: never[]) => unknown>): vscode.Disposable[] {
  return Object.entries(commands).map(([name, work]) =>
    vscode.commands.registerCommand(`ragLs.ui.${name}`, async (...given: never[]) => {
      try {
        await work(...given);
      } catch (error) {
        tell(error);
      }
    }),
  );
}

/** A draft that was stored is the memory's document from now on: another window finds that, and no draft. */
async function replaceDraft(uri: vscode.Uri, memory: Memory): Promise<void> {
  const stored = uriOf(memory);
  if (uri.toString() === stored.toString()) {
    return;
  }
  await vscode.window.showTextDocument(stored);
  const isDraft = (tab: vscode.Tab): boolean => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri.toString();
  await vscode.window.tabGroups.close(vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(isDraft));
}

export function deactivate(): void {
  // What was registered is disposed of by the editor.
}
