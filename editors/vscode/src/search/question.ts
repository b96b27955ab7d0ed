// A question of the search view in the server's words: no editor in here, so that it can be tested without one.
import type { Question } from "./messages.ts";

export interface Surroundings {
  /** The folders of the window. */
  readonly folders: readonly { readonly name: string; readonly path: string }[];
  /** The roots of the projects around them: a folder may be a part of one. */
  readonly roots: readonly string[];
}

/** The arguments of `ragLs.searchCode`. */
export function asCodeQuestion(question: Question, around: Surroundings): Record<string, string | boolean> {
  const { match = "auto", matchCase = false, wholeWords = false } = question;
  return {
    query: question.query,
    ...(match === "auto" ? {} : { match, ignore_case: !matchCase, whole_words: wholeWords }),
    ...(question.subject === "code" ? {} : { kind: question.subject }),
    ...(question.language ? { language: question.language } : {}),
    ...placeOf(question.folder, around),
  };
}

/** Which project is meant by a folder as the editor names it (its window's folder first, where there are several), and which files of it. */
export function placeOf(text: string, { folders, roots }: Surroundings): { readonly project?: string; readonly path_glob?: string } {
  const bare = text.trim().replaceAll("\\", "/").replace(/^(\.?\/)+/, "").replace(/\/+$/, "").replace(/^\.$/, "");
  const [first = "", ...rest] = bare.split("/");
  const named = folders.length > 1 ? folders.find(({ name }) => name === first) : folders[0];
  const inside = folders.length > 1 && named ? rest.join("/") : bare;
  const root = named && roots.filter((each) => isIn(named.path, each)).toSorted((one, other) => other.length - one.length)[0];
  const prefix = root && named ? normal(named.path).slice(normal(root).length).replace(/^\//, "") : "";
  const glob = bare === "" ? "" : below(prefix, inside);
  return { ...(glob ? { path_glob: glob } : {}), ...(bare && root && roots.length > 1 ? { project: root } : {}) };
}

function below(prefix: string, inside: string): string {
  if (inside === "") {
    return prefix && `${prefix}/**`;
  }
  const isPattern = /[*?[]/.test(inside);
  // A pattern without a slash means files of any folder.
  const way = !prefix ? inside : isPattern && !inside.includes("/") ? `${prefix}/**/${inside}` : `${prefix}/${inside}`;
  return isPattern || /[^/]\.[\w-]+$/.test(way) ? way : `${way}/**`;
}

function isIn(folder: string, root: string): boolean {
  return normal(folder) === normal(root) || normal(folder).startsWith(`${normal(root)}/`);
}

function normal(path: string): string {
  return path.replaceAll("\\", "/").replace(/\/+$/, "");
}
