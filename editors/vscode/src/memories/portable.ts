// Memories as files: exported, and taken in from there or from other tools.
import * as vscode from "vscode";
import { plain } from "../quoting.ts";
import type { Server } from "../server/server.ts";
import { pickFolder, shell } from "../server/shell.ts";

const FORMATS = { Markdown: ["md"], "JSON Lines": ["jsonl"], JSON: ["json"] };
const SCOPES = [
  { label: "This project", scope: "project" },
  { label: "All projects", scope: "global" },
];
const [FILE, FOLDER] = ["A File", "A Folder"];
const SOURCES = [
  { label: "A file that rag-ls exported", detail: "JSON, JSON Lines or Markdown", source: "", takes: [FILE] },
  { label: "Claude Code", detail: "CLAUDE.md, or a folder of its memories", source: "claude", takes: [FILE, FOLDER] },
  { label: "AGENTS.md", detail: "Or a file like it", source: "agents", takes: [FILE] },
];

/** Write a scope's memories to a file that the user names. */
export async function exportMemories(server: Server): Promise<void> {
  const folder = await pickFolder();
  const scope = folder && (await vscode.window.showQuickPick(SCOPES, { title: "Export the memories of…" }));
  const target = scope && (await vscode.window.showSaveDialog({ filters: FORMATS, defaultUri: vscode.Uri.joinPath(folder.uri, "memories.md"), title: "Export Memories" }));
  if (!target) {
    return;
  }
  const said = await shell(server, folder, "export", "--scope", scope.scope, "--output", target.fsPath);
  if (await vscode.window.showInformationMessage(`rag-ls: ${plain(said)}.`, "Open")) {
    await vscode.window.showTextDocument(target);
  }
}

/** Take memories in from a file or folder that the user names. */
export async function importMemories(server: Server): Promise<void> {
  const folder = await pickFolder();
  const from = folder && (await vscode.window.showQuickPick(SOURCES, { title: "Import memories from…" }));
  const scope = from && (await vscode.window.showQuickPick(SCOPES, { title: "Import them for…" }));
  const input = scope && (await pickInput(from.takes));
  if (!input) {
    return;
  }
  const source = from.source ? ["--from", from.source] : [];
  const said = await shell(server, folder, "import", "--scope", scope.scope, "--input", input.fsPath, ...source);
  void vscode.window.showInformationMessage(`rag-ls: ${plain(said)}`);
}

/** Dialogs of most systems offer either files or folders. */
async function pickInput(takes: readonly string[]): Promise<vscode.Uri | undefined> {
  const kind = takes.length === 1 ? takes[0] : await vscode.window.showQuickPick([...takes], { title: "Import…" });
  if (!kind) {
    return undefined;
  }
  const chosen = await vscode.window.showOpenDialog({ canSelectFolders: kind === FOLDER, canSelectFiles: kind === FILE, openLabel: "Import" });
  return chosen?.[0];
}
