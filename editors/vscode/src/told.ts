import * as vscode from "vscode";
import { messageOf } from "./errors.ts";

/** Tell the user what failed. */
export function tell(error: unknown): void {
  void vscode.window.showErrorMessage(`rag-ls: ${messageOf(error)}`);
}

/** Tell the user where something fails that nobody waits for. */
export function told(work: PromiseLike<unknown>): void {
  work.then(undefined, tell);
}
