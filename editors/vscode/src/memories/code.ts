// The code that a memory is about.
import * as vscode from "vscode";
import type { Memory } from "../server/answers.ts";
import { rootsOf } from "../server/projects.ts";
import type { Server } from "../server/server.ts";

/** Show the place that a memory is about. Throws where there is none. */
export async function goToCode(server: Server, { anchor }: Memory): Promise<void> {
  if (!anchor) {
    throw new Error("this memory is about no place in the code");
  }
  const roots = anchor.project ? [anchor.project] : await rootsOf(server);
  const fileIn = (root: string): vscode.Uri => vscode.Uri.joinPath(vscode.Uri.file(root), anchor.path);
  const there = await Promise.all(roots.map((root) => isThere(fileIn(root))));
  const holding = roots.filter((_, at) => there[at]);
  if (holding.length === 0) {
    throw new Error(`${anchor.path}, which this memory is about, is not there any more`);
  }
  const root = holding.length > 1 ? await vscode.window.showQuickPick(holding, { title: `${anchor.path} of…` }) : holding[0];
  if (root === undefined) {
    return;
  }
  const start = new vscode.Position(Math.max(0, (anchor.line ?? 1) - 1), 0);
  await vscode.window.showTextDocument(fileIn(root), { selection: new vscode.Range(start, start) });
}

async function isThere(file: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(file).then(
    () => true,
    () => false,
  );
}
