// What the shell alone offers, because it reads and writes files that the user names.
import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { type Server, ServerProblem } from "./server.ts";

const run = promisify(execFile);
const LONGEST_MS = 300_000;

/** What a verb of the rag-ls command prints, run for a folder of the workspace. Raises `ServerProblem`, with its own words. */
export async function shell(server: Server, folder: vscode.WorkspaceFolder, ...args: readonly string[]): Promise<string> {
  if (!server.path) {
    throw new ServerProblem(server.whyNot || "the rag-ls command was not found yet");
  }
  try {
    const { stdout } = await run(server.path, [...args, "--project", folder.uri.fsPath], { cwd: homedir(), timeout: LONGEST_MS });
    return stdout.trim();
  } catch (error) {
    const told = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new ServerProblem(told.replace(/^rag-ls: /, "") || String(error));
  }
}

/** The folder that is meant: the only one, or the one that the user picks. Raises `ServerProblem` where there is none. */
export async function pickFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    throw new ServerProblem("open a folder first");
  }
  return folders.length === 1 ? folders[0] : vscode.window.showWorkspaceFolderPick({ placeHolder: "Of which folder?" });
}
