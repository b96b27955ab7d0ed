// Where the rag-ls command is: pure functions, so that they can be tested without an editor.
import { access, constants } from "node:fs/promises";
import * as path from "node:path";

export interface Surroundings {
  /** The setting `ragLs.path`; empty where it is not set. */
  readonly setting: string;
  /** The interpreter of the selected Python environment, if one is known. */
  readonly python: string | undefined;
  /** The folders of the workspace. */
  readonly folders: readonly string[];
  /** Whether the user trusts them: nothing that lies in a folder is run before. */
  readonly trusted: boolean;
  /** Where the extension installs the command itself. */
  readonly own: string;
  /** The environment variable PATH. */
  readonly searchPath: string;
  /** Where uv and pipx put commands. */
  readonly toolBins: readonly string[];
  readonly windows: boolean;
}

/** All places where the command may be, the best first. A setting is the only one: whoever names a command means that one. */
export function candidates(from: Surroundings): string[] {
  const paths = from.windows ? path.win32 : path.posix;
  const name = from.windows ? "rag-ls.exe" : "rag-ls";
  const isAllowed = (place: string): boolean => from.trusted || !from.folders.some((folder) => isBelow(folder, place, paths));
  if (from.setting.trim()) {
    return [expanded(from.setting.trim(), from, paths)].filter(isAllowed);
  }
  const folders = [
    ...(from.python ? [paths.dirname(from.python)] : []),
    ...from.folders.map((folder) => paths.join(folder, ".venv", from.windows ? "Scripts" : "bin")),
    from.own,
    ...foldersOn(from.searchPath, paths),
    ...from.toolBins,
  ];
  return folders.map((folder) => paths.join(folder, name)).filter(isAllowed);
}

/** The folders of a PATH. A relative one would be looked for in whatever folder is open. */
export function foldersOn(searchPath: string, paths: path.PlatformPath): string[] {
  return searchPath.split(paths.delimiter).filter((folder) => paths.isAbsolute(folder));
}

/** Where `uv tool install` and `pipx install` put commands: an editor that was not started from a shell may not have it on its PATH. */
export function toolBins(environment: Readonly<Record<string, string | undefined>>, home: string, paths: path.PlatformPath): string[] {
  const set = ["UV_TOOL_BIN_DIR", "PIPX_BIN_DIR", "XDG_BIN_HOME"].map((name) => environment[name] ?? "");
  return [...set, paths.join(home, ".local", "bin")].filter((folder) => paths.isAbsolute(folder));
}

function isBelow(folder: string, place: string, paths: path.PlatformPath): boolean {
  const way = paths.relative(folder, place);
  return way === "" || !(way.startsWith("..") || paths.isAbsolute(way));
}

function expanded(setting: string, from: Surroundings, paths: path.PlatformPath): string {
  const [first] = from.folders;
  const named = first ? setting.replaceAll("${workspaceFolder}", first) : setting;
  return paths.isAbsolute(named) || !first ? named : paths.join(first, named);
}

/** The first candidate that is there. */
export async function firstThat(
  places: readonly string[],
  isThere: (place: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const place of places) {
    if (await isThere(place)) {
      return place;
    }
  }
  return undefined;
}

export async function isExecutable(place: string): Promise<boolean> {
  try {
    await access(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export const OLDEST_SERVER = "0.1.0";

/** The version that `rag-ls --version` says; undefined for anything else. */
export function versionIn(output: string): string | undefined {
  return /^rag-ls (\d+\.\d+\.\d+)/m.exec(output)?.[1];
}

/** Whether a version is another one's successor, or the same. */
export function isAtLeast(version: string, oldest: string): boolean {
  const wanted = oldest.split(".").map(Number);
  const given = version.split(".").map(Number);
  for (const [at, least] of wanted.entries()) {
    const part = given[at] ?? 0;
    if (part !== least) {
      return part > least;
    }
  }
  return true;
}
