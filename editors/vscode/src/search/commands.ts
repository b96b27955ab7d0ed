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
    searchMemories: () => view.focus({ subject: "memory", match: "auto" }),
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

/** The 1-based lines of a selection; one that ends before the first character of a line holds nothing of it. */
function linesOf({ start, end }: vscode.Range): { readonly first: number; readonly last: number } {
  return { first: start.line + 1, last: end.character === 0 && end.line > start.line ? end.line : end.line + 1 };
}

/** Show what is close to the selection, or to the declaration around the caret. */
async function related(server: Server, view: SearchView): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return;
  }
  const { document, selection } = editor;
  const snippet = document.getText(selection).trim();
  const lines = linesOf(snippet ? selection : new vscode.Range(selection.active, selection.active));
  const answer = await server.ask<CodeAnswer>("findRelated", { uri: document.uri.toString(), line: lines.first, ...(snippet ? { snippet } : {}) });
  const shown = lines.first === lines.last ? lines.first : `${lines.first}-${lines.last}`;
  view.show(answer, `Related to ${vscode.workspace.asRelativePath(document.uri)}:${shown}`);
  await vscode.commands.executeCommand("ragLs.search.focus");
}
