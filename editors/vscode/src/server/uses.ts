// The places that use a symbol, in the editor's own list: a click on "used in 12 files" opens it.
import * as vscode from "vscode";

export const SHOW_USES = "ragLs.showUses";

interface Uses {
  /** The folder that the paths are in. */
  readonly root: string;
  readonly references: readonly { readonly path: string; readonly line: number; readonly column: number }[];
}

/** Ask for the uses, and list them beside the line of the symbol. */
export async function listUses(given: unknown[], ask: (given: unknown[]) => unknown): Promise<unknown> {
  const asked = given[0] as { uri: string; line?: number };
  const answer = (await ask([{ ...asked, listed: true }])) as Uses;
  const places = answer.references.map(
    (each) =>
      new vscode.Location(
        vscode.Uri.joinPath(vscode.Uri.parse(answer.root), each.path),
        new vscode.Position(each.line - 1, each.column - 1),
      ),
  );
  const at = new vscode.Position((asked.line ?? 1) - 1, 0);
  await vscode.commands.executeCommand("editor.action.showReferences", vscode.Uri.parse(asked.uri), at, places);
  return answer;
}
