// A question of the search view in the server's words: no editor in here, so that it can be tested without one.
import type { Question } from "./messages.ts";

/** The arguments of `ragLs.searchCode`. */
export function asCodeQuestion(question: Question): Record<string, string> {
  const folder = globOf(question.folder);
  return {
    query: question.query,
    ...(question.subject === "code" ? {} : { kind: question.subject }),
    ...(question.language ? { language: question.language } : {}),
    ...(folder ? { path_glob: folder } : {}),
  };
}

/** The pattern of all files in a folder; what is a pattern already stays. */
export function globOf(folder: string): string {
  const bare = folder.trim().replaceAll("\\", "/").replace(/^(\.?\/)+/, "").replace(/\/+$/, "");
  if (bare === "" || bare === "." || /[*?[]/.test(bare)) {
    return bare === "." ? "" : bare;
  }
  const name = bare.slice(bare.lastIndexOf("/") + 1);
  return /.\.[\w-]+$/.test(name) ? bare : `${bare}/**`;
}
