// How the server is installed into an environment of its own: pure functions, so that they can be tested without an editor.
import * as path from "node:path";

/** What is installed from PyPI where the user names nothing. Empty while the name there is not ours. Written by scripts/generate_manifests.py. */
export const RELEASE: string = "";

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface Installer {
  readonly name: "uv" | "pipx";
  /** Where it is. */
  readonly program: string;
}

/** Where the installed command will be. */
export function ownBin(storage: string): string {
  return path.join(storage, "bin");
}

/** The embedding model beside rag-ls: in its sources, or one of the `names` of wheels in the same folder; undefined where `source` is no place. */
export function modelBeside(source: string, names: readonly string[]): string | undefined {
  if (source.endsWith(".whl")) {
    const wheel = names.find((name) => /^rag_ls_model-.*\.whl$/.test(name));
    return wheel && path.join(path.dirname(source), wheel);
  }
  return path.isAbsolute(source) ? path.join(source, "packages", "rag-ls-model") : undefined;
}

/** The command that installs rag-ls from `source` (a folder, a wheel, a requirement), with a model, below `storage`. */
export function installation(installer: Installer, source: string, model: string | undefined, storage: string): Command {
  const bin = ownBin(storage);
  if (installer.name === "uv") {
    return {
      program: installer.program,
      args: ["tool", "install", "--force", "--upgrade", "--python", ">=3.11", ...(model ? ["--with", model] : []), source],
      environment: { UV_TOOL_DIR: path.join(storage, "tools"), UV_TOOL_BIN_DIR: bin },
    };
  }
  return {
    program: installer.program,
    args: ["install", "--force", ...(model ? ["--preinstall", model] : []), source],
    environment: { PIPX_HOME: path.join(storage, "pipx"), PIPX_BIN_DIR: bin },
  };
}

/** Where an installer may be, besides the PATH: an editor that was not started from a shell often lacks these. */
export function installerFolders(home: string, windows: boolean): string[] {
  const paths = windows ? path.win32 : path.posix;
  const own = [paths.join(home, ".local", "bin"), paths.join(home, ".cargo", "bin")];
  return windows ? own : [...own, "/opt/homebrew/bin", "/usr/local/bin"];
}

/** The line of an installer's output that is worth showing: the last one with words in it. */
export function lastLine(output: string): string {
  return output.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, "").split(/[\r\n]+/).map((line) => line.trim()).findLast((line) => /\w/.test(line)) ?? "";
}
