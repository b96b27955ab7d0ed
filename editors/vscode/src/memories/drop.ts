// What is dropped on the Memories view becomes a memory: text as it is, a file as a draft about it.
import * as vscode from "vscode";
import { pickProject } from "../server/projects.ts";
import type { Server } from "../server/server.ts";
import { tell } from "../told.ts";
import type { MemoryDocuments } from "./documents.ts";

/** Accepts text from anywhere, and files from the Explorer or by their tab; a tab whose text is selected means that text. */
export function dropController<T>(server: Server, documents: MemoryDocuments, changed: () => void): vscode.TreeDragAndDropController<T> {
  return {
    dropMimeTypes: ["text/uri-list", "text/plain"],
    dragMimeTypes: [],
    handleDrop: async (_target, data) => {
      try {
        const uris = uriList((await data.get("text/uri-list")?.asString()) ?? "");
        const text = ((await data.get("text/plain")?.asString()) ?? "").trim();
        for (const uri of uris) {
          await rememberFile(server, documents, uri);
        }
        const project = uris.length === 0 && text ? await pickProject(server, "Remember this for…") : undefined;
        if (project) {
          await server.ask("storeMemory", { content: text, scope: "project", ...project });
        }
      } catch (error) {
        tell(error);
      }
      changed();
    },
  };
}

async function rememberFile(server: Server, documents: MemoryDocuments, uri: vscode.Uri): Promise<void> {
  const editor = vscode.window.visibleTextEditors.find((each) => each.document.uri.toString() === uri.toString());
  const selected = editor?.document.getText(editor.selection).trim() ?? "";
  if (editor && selected) {
    await server.ask("rememberSelection", { uri: uri.toString(), line: editor.selection.start.line + 1, text: selected, scope: "project" });
  } else {
    await vscode.window.showTextDocument(documents.draft(vscode.workspace.getWorkspaceFolder(uri) ? { source_file: uri.fsPath } : {}));
  }
}

/** RFC 2483: one URI a line, remarks begin with `#`. */
function uriList(text: string): vscode.Uri[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => vscode.Uri.parse(line))
    .filter((uri) => uri.scheme === "file");
}
