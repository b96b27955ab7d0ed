// How the server is installed into an environment of its own: pure functions, so that they can be tested without an editor.
import * as path from "node:path";
import { OLDEST_SERVER } from "./find.ts";

/** The newest release that this extension works with, from PyPI. */
export const RELEASE = `rag-ls>=${OLDEST_SERVER}`;

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

/** The command that installs rag-ls from `source` (a folder, a wheel, a requirement) below `storage`. */
export function installation(installer: Installer, source: string, storage: string): Command {
  const bin = ownBin(storage);
  const isWheel = source.endsWith(".whl");
  // The embedding model is a package beside rag-ls: in its sources, or a wheel in the same folder.
  const model = path.isAbsolute(source) && !isWheel ? path.join(source, "packages", "rag-ls-model") : undefined;
  const beside = isWheel ? path.dirname(source) : undefined;
  if (installer.name === "uv") {
    const links = [...(beside ? ["--find-links", beside] : []), ...(model ? ["--with", model] : [])];
    return {
      program: installer.program,
      args: ["tool", "install", "--force", "--upgrade", "--python", ">=3.11", ...links, source],
      environment: { UV_TOOL_DIR: path.join(storage, "tools"), UV_TOOL_BIN_DIR: bin },
    };
  }
  const args = [...(beside ? ["--pip-args", `--find-links "${beside}"`] : []), ...(model ? ["--preinstall", model] : [])];
  return {
    program: installer.program,
    args: ["install", "--force", ...args, source],
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
