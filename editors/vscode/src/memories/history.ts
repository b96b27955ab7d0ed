// What a memory said before: look at the difference, bring a version back.
import * as vscode from "vscode";
import type { ReadOnlyDocuments } from "../readonly.ts";
import type { Memory, MemoryVersion, RememberedMemory } from "../server/answers.ts";
import type { Server } from "../server/server.ts";
import { titleOf } from "./groups.ts";
import { toMarkdown } from "./markdown.ts";
import { fileNameOf, queryOf } from "./names.ts";

/** Let the user look through the former versions of a memory; `changed` is called after one was brought back. */
export async function showHistory(server: Server, views: ReadOnlyDocuments, memory: Memory, changed: () => void): Promise<void> {
  const now = await server.ask<RememberedMemory>("getMemory", { id: memory.id, history: true });
  const versions = (now.history ?? []).toSorted((one, other) => other.version - one.version);
  if (versions.length === 0) {
    void vscode.window.showInformationMessage(`“${titleOf(now)}” was never changed.`);
    return;
  }
  const chosen = await vscode.window.showQuickPick(versions.map(item), {
    title: `History of “${titleOf(now)}”`,
    placeHolder: "Choose a version to compare it with the memory as it is",
    matchOnDetail: true,
  });
  if (!chosen) {
    return;
  }
  const { version } = chosen;
  const viewOf = (folder: string, memory: Memory): vscode.Uri =>
    views.of(`${folder}/${fileNameOf(now)}`, toMarkdown({ ...memory, anchor: null }), queryOf(now.id));
  const former = viewOf(`version ${version.version}`, { ...now, ...version });
  const present = viewOf("now", now);
  await vscode.commands.executeCommand("vscode.diff", former, present, `${titleOf(now)}: version ${version.version} and now`);
  const restore = await vscode.window.showInformationMessage(`Bring version ${version.version} back?`, "Bring Back");
  if (restore) {
    await server.ask("restoreMemory", { id: memory.id, version: version.version });
    changed();
  }
}

function item(version: MemoryVersion): vscode.QuickPickItem & { readonly version: MemoryVersion } {
  const until = version.replaced_at ? new Date(version.replaced_at).toLocaleString() : "";
  return { label: `$(history) Version ${version.version}`, description: `until ${until} (${version.reason})`, detail: titleOf(version), version };
}
