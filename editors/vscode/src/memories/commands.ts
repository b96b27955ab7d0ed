// The commands about memories.
import * as vscode from "vscode";
import type { ReadOnlyDocuments } from "../readonly.ts";
import type { Memory } from "../server/answers.ts";
import { pickProject } from "../server/projects.ts";
import type { Server } from "../server/server.ts";
import { told } from "../told.ts";
import { goToCode } from "./code.ts";
import { consolidate } from "./consolidate.ts";
import { type MemoryDocuments, SCHEME, uriOf } from "./documents.ts";
import { titleOf } from "./groups.ts";
import { showHistory } from "./history.ts";
import { idIn } from "./names.ts";
import { exportMemories, importMemories } from "./portable.ts";
import type { Memories } from "./tree.ts";

/** The commands by their name after `ragLs.ui.`; those about one memory take it as the tree gives it. */
export function memoryCommands(server: Server, memories: Memories, documents: MemoryDocuments, views: ReadOnlyDocuments) {
  const changed = (): void => {
    void documents.refresh();
    memories.refresh();
  };
  return {
    remember: () => remember(server, changed),
    addMemory: async () => {
      const project = await pickProject(server, "Add a memory to…");
      await (project && vscode.window.showTextDocument(documents.draft(project)));
    },
    goToCode: async (given?: Memory | vscode.Uri) => {
      const memory = given && "content" in given ? given : await memoryInEditor(server);
      await goToCode(server, memory);
    },
    editMemory: (memory: Memory) => vscode.window.showTextDocument(uriOf(memory)),
    deleteMemory: async (named?: Memory) => {
      const memory = named ?? memories.chosen;
      if (!memory) {
        return;
      }
      await server.ask("deleteMemory", { id: memory.id });
      documents.gone(memory.id);
      changed();
      // Not awaited: whoever deletes several need not answer for each.
      told(offerUndo(server, memory, changed));
    },
    memoryHistory: async (memory?: Memory) => showHistory(server, views, memory ?? (await memoryInEditor(server)), changed),
    consolidateMemories: () => consolidate(server, views, changed),
    exportMemories: () => exportMemories(server),
    importMemories: async () => {
      await importMemories(server);
      changed();
    },
    refreshMemories: changed,
  };
}

async function remember(server: Server, changed: () => void): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection).trim() ?? "";
  if (!editor || !text) {
    void vscode.window.showInformationMessage("rag-ls: select what is to be remembered, or what the note is about.");
    return;
  }
  const place = { uri: editor.document.uri.toString(), line: editor.selection.start.line + 1 };
  // Of code, the server asks for the note; it says what became of it.
  await server.ask("rememberSelection", { ...place, text, scope: "project" });
  changed();
}

async function offerUndo(server: Server, memory: Memory, changed: () => void): Promise<void> {
  const undo = await vscode.window.showInformationMessage(`Forgot “${titleOf(memory)}”.`, "Undo");
  if (undo) {
    await server.ask("restoreMemory", { id: memory.id });
    changed();
  }
}

async function memoryInEditor(server: Server): Promise<Memory> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const id = uri?.scheme === SCHEME ? idIn(uri.query) : undefined;
  if (id === undefined) {
    throw new Error("open a memory first, or choose one in the Memories view");
  }
  return server.ask<Memory>("getMemory", { id });
}
