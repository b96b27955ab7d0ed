// Installing the server into an environment of its own, with progress, and a log that one can read.
import { spawn } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { firstThat, foldersOn, isExecutable } from "./find.ts";
import { type Command, type Installer, RELEASE, installation, installerFolders, lastLine, modelBeside } from "./installing.ts";

/** Install rag-ls below `storage`: what the setting says, else the release, else what the user picks. Tells in `log` all that the installer says. Answers whether it is there now. */
export async function installServer(storage: string, log: vscode.LogOutputChannel): Promise<boolean> {
  const installer = await foundInstaller();
  if (!installer) {
    await offerInstaller();
    return false;
  }
  const set = vscode.workspace.getConfiguration("ragLs").inspect<string>("installFrom")?.globalValue?.trim();
  const source = set || RELEASE || (await pickSource());
  return source !== undefined && (await installFrom(source, installer, storage, log));
}

async function installFrom(source: string, installer: Installer, storage: string, log: vscode.LogOutputChannel): Promise<boolean> {
  await mkdir(storage, { recursive: true });
  const beside = source.endsWith(".whl") ? await readdir(path.dirname(source)) : [];
  const model = modelBeside(source, beside);
  const command = installation(installer, source, model, storage);
  log.info(`${command.program} ${command.args.join(" ")}`);
  const options = { location: vscode.ProgressLocation.Notification, title: `Installing rag-ls with ${installer.name} (about 700 MB)`, cancellable: true };
  const isAlone = path.isAbsolute(source) && !model && !RELEASE;
  const problem = isAlone
    ? "the wheel of its model, rag_ls_model-….whl, is not in the same folder"
    : await vscode.window.withProgress(options, (progress, token) => carriedOut(command, log, progress, token));
  if (!problem) {
    return true;
  }
  log.error(problem);
  const [show, other] = ["Show Log", "Install from…"] as const;
  const chosen = await vscode.window.showErrorMessage(`rag-ls: the installation of ${source} failed: ${problem}`, show, other);
  if (chosen === show) {
    log.show();
  }
  const another = chosen === other ? await pickSource() : undefined;
  return another !== undefined && (await installFrom(another, installer, storage, log));
}

/** Run an installer; answers what went wrong, empty where nothing did. */
async function carriedOut(
  command: Command,
  log: vscode.LogOutputChannel,
  progress: vscode.Progress<{ message: string }>,
  token: vscode.CancellationToken,
): Promise<string> {
  return await new Promise((resolve) => {
    const child = spawn(command.program, command.args, { env: { ...process.env, ...command.environment }, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const hear = (data: Buffer): void => {
      const text = data.toString();
      log.info(text.trimEnd());
      said = lastLine(text) || said;
      progress.report({ message: said.slice(0, 80) });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    token.onCancellationRequested(() => child.kill());
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => resolve(code === 0 ? "" : token.isCancellationRequested ? "it was cancelled" : said || `exit code ${code}`));
  });
}

async function foundInstaller(): Promise<Installer | undefined> {
  for (const name of ["uv", "pipx"] as const) {
    const program = await onPath(name);
    if (program) {
      return { name, program };
    }
  }
  return undefined;
}

async function onPath(name: string): Promise<string | undefined> {
  const program = process.platform === "win32" ? `${name}.exe` : name;
  const folders = [...foldersOn(process.env["PATH"] ?? "", path), ...installerFolders(homedir(), process.platform === "win32")];
  return firstThat(folders.map((folder) => path.join(folder, program)), isExecutable);
}

/** The folder of sources, or the wheel, that the user picks. */
async function pickSource(): Promise<string | undefined> {
  const [sources, wheel] = ["The folder of its sources", "A wheel (.whl)"];
  const kind = await vscode.window.showQuickPick([sources, wheel], { title: "Install rag-ls from…" });
  if (!kind) {
    return undefined;
  }
  // Dialogs of most systems offer either files or folders.
  const chosen = await vscode.window.showOpenDialog({ canSelectFolders: kind === sources, canSelectFiles: kind === wheel, openLabel: "Install" });
  return chosen?.[0]?.fsPath;
}

async function offerInstaller(): Promise<void> {
  const chosen = await vscode.window.showErrorMessage("rag-ls: installing needs uv (or pipx), which brings a Python of its own where none is there.", "How to Install uv");
  if (chosen) {
    await vscode.env.openExternal(vscode.Uri.parse("https://docs.astral.sh/uv/getting-started/installation/"));
  }
}
