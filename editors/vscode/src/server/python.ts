// The Python environment that the user has selected, as the Python extension tells it.
import * as vscode from "vscode";

interface Environments {
  getActiveEnvironmentPath?(folder?: vscode.Uri): { readonly path?: unknown };
  readonly onDidChangeActiveEnvironmentPath?: vscode.Event<unknown>;
}

/** The selected interpreter, where the Python extension is installed and active; `wake` starts it for that. */
export async function selectedPython({ wake }: { wake: boolean }): Promise<string | undefined> {
  try {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const found = (await environments(wake))?.getActiveEnvironmentPath?.(folder).path;
    return typeof found === "string" && found ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Call `changed` when another interpreter is selected, once the Python extension is active. */
export async function onPythonSelected(changed: () => void): Promise<vscode.Disposable | undefined> {
  return (await environments(false).catch(() => undefined))?.onDidChangeActiveEnvironmentPath?.(changed);
}

async function environments(wake: boolean): Promise<Environments | undefined> {
  const extension = vscode.extensions.getExtension<{ readonly environments?: Environments }>("ms-python.python");
  if (extension && !extension.isActive && wake) {
    await extension.activate();
  }
  return extension?.isActive ? extension.exports?.environments : undefined;
}
