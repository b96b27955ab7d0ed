// Which project is meant, where a window has several.
import * as vscode from "vscode";
import type { Status } from "./answers.ts";
import type { Server } from "./server.ts";

/** The roots of the projects that this window has open. */
export async function rootsOf(server: Server): Promise<string[]> {
  return (await server.ask<Status>("status", {})).projects.map(({ root }) => root);
}

/** The arguments that name the project that the user picks; none are needed where there is one. Undefined where the user picks none. */
export async function pickProject(server: Server, title: string): Promise<{ readonly project?: string } | undefined> {
  const roots = await rootsOf(server);
  if (roots.length < 2) {
    return {};
  }
  const project = await vscode.window.showQuickPick(roots, { title });
  return project === undefined ? undefined : { project };
}
