// Showing the place of a hit.
import * as vscode from "vscode";
import type { CodeHit } from "../server/answers.ts";

/** Where a hit is: a file, or a document that is none (`untitled:Untitled-1`). */
export function placeOfHit(hit: CodeHit): vscode.Uri {
  // A drive of Windows is one letter.
  return /^[a-z][\w+.-]+:/i.test(hit.file) ? vscode.Uri.parse(hit.file) : vscode.Uri.file(hit.file);
}

/** Show a hit's lines, or its notebook; `preview` keeps the focus where it is. */
export async function openHit(hit: CodeHit, options: { preview: boolean }): Promise<void> {
  if (hit.language === "notebook") {
    // Its lines are those of JSON, which nobody reads.
    await vscode.commands.executeCommand("vscode.open", placeOfHit(hit), { preview: true, preserveFocus: options.preview });
    return;
  }
  const start = new vscode.Position(hit.start_line - 1, 0);
  const end = new vscode.Position(hit.end_line - 1, Number.MAX_SAFE_INTEGER);
  const editor = await vscode.window.showTextDocument(placeOfHit(hit), {
    preview: true,
    preserveFocus: options.preview,
    selection: options.preview ? new vscode.Range(start, end) : new vscode.Range(start, start),
  });
  editor.revealRange(new vscode.Range(start, end), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
