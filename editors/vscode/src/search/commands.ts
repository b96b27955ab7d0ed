// The commands that search.
import * as vscode from "vscode";
import type { CodeAnswer } from "../server/answers.ts";
import type { Server } from "../server/server.ts";
import { pickCode } from "./picker.ts";
import type { SearchView } from "./view.ts";

const LONGEST_QUESTION = 200;

/** The commands by their name after `ragLs.ui.`. */
export function searchCommands(server: Server, view: SearchView) {
  return {
    search: () => pickCode(server, (answer) => view.show(answer), selectedText()),
    focusSearch: () => {
      const query = selectedText();
      return view.focus(query ? { query, subject: "code" } : {});
    },
    searchInFolder: (folder: vscode.Uri) => view.focus({ folder: nameOf(folder), subject: "code" }),
    searchMemories: () => view.focus({ subject: "memory" }),
    clearSearch: () => view.clear(),
    related: () => related(server, view),
  };
}

/** A folder as the form names it: the window's folder first, where there are several. */
function nameOf(folder: vscode.Uri): string {
  const isRoot = vscode.workspace.workspaceFolders?.some(({ uri }) => uri.toString() === folder.toString());
  if (isRoot) {
    return vscode.workspace.workspaceFolders?.length === 1 ? "" : (vscode.workspace.getWorkspaceFolder(folder)?.name ?? "");
  }
  return vscode.workspace.asRelativePath(folder);
}

function selectedText(): string {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection) ?? "";
  return text.length <= LONGEST_QUESTION && !text.includes("\n") ? text : "";
}

async function related(server: Server, view: SearchView): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return;
  }
  const line = editor.selection.active.line + 1;
  const answer = await server.ask<CodeAnswer>("findRelated", { uri: editor.document.uri.toString(), line });
  view.show(answer, `Related to ${vscode.workspace.asRelativePath(editor.document.uri)}:${line}`);
  await vscode.commands.executeCommand("ragLs.search.focus");
}
