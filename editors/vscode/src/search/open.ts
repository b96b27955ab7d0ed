// Showing the place of a hit.
import * as vscode from "vscode";
import type { CodeHit } from "../server/answers.ts";

/** Show a hit's lines; `preview` keeps the focus where it is. */
export async function openHit(hit: CodeHit, options: { preview: boolean }): Promise<void> {
  const uri = hit.file.includes("://") ? vscode.Uri.parse(hit.file) : vscode.Uri.file(hit.file);
  const start = new vscode.Position(hit.start_line - 1, 0);
  const end = new vscode.Position(hit.end_line - 1, Number.MAX_SAFE_INTEGER);
  const editor = await vscode.window.showTextDocument(uri, {
    preview: true,
    preserveFocus: options.preview,
    selection: options.preview ? new vscode.Range(start, end) : new vscode.Range(start, start),
  });
  editor.revealRange(new vscode.Range(start, end), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
