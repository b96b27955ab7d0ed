// Hits as people read them, in lists and in the search view: no editor in here, so that it can be tested without one.
import { SCOPE_TITLES, titleOf } from "../memories/groups.ts";
import type { CodeHit, ExactPlaces, Memory } from "../server/answers.ts";
import type { ShownGroup } from "./messages.ts";
import { type Matcher, marked, snippet, wordsOf } from "./snippet.ts";

export interface Shown {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
}

const LONGEST_DETAIL = 160;
const MEMORY_LINES = 4;

/** How a hit reads in a list: its symbol (else its first line), where it is, and what of it matters. */
export function shown(hit: CodeHit): Shown {
  const lines = hit.text.split(/\r\n|\n|\r/).map((line) => line.trim()).filter((line) => line !== "");
  const detail = lines.slice(hit.symbol ? 0 : 1).join(" ").replaceAll(/([([{]) | (?=[)\]}])/g, "$1");
  return {
    label: labelOf(hit),
    description: `${hit.path}:${hit.start_line}${unsaved(hit)}`,
    detail: detail.length > LONGEST_DETAIL ? `${detail.slice(0, LONGEST_DETAIL - 1)}…` : detail,
  };
}

/** Hits by file, in the order of each file's best one; `indexOf` is a hit's place in the answer. */
export function codeGroups(hits: readonly CodeHit[], matchesIn: Matcher): ShownGroup[] {
  const files = new Map<string, { hit: CodeHit; index: number }[]>();
  for (const [index, hit] of hits.entries()) {
    files.set(hit.file, [...(files.get(hit.file) ?? []), { hit, index }]);
  }
  return [...files.values()].map((found) => {
    const path = found[0]?.hit.path ?? "";
    const cut = path.lastIndexOf("/");
    return {
      title: path.slice(cut + 1),
      folder: path.slice(0, Math.max(cut, 0)),
      hits: found
        .toSorted((one, other) => one.hit.start_line - other.hit.start_line)
        .map(({ hit, index }) => ({
          index,
          label: labelOf(hit),
          place: `${hit.start_line}${unsaved(hit)}`,
          isLine: true,
          lines: snippet(hit.text, matchesIn),
        })),
    };
  });
}

/** The lines that hold a text, as hits of one line each. */
export function lineHits(exact: ExactPlaces): CodeHit[] {
  return exact.places.map(({ path, line, text, symbol = "", file = path }) => ({
    id: `${path}:${line}`, path, file, start_line: line, end_line: line, language: "", symbol, score: 1, freshness: null, text,
  }));
}

/** How many lines there are, and how many of them are shown. */
export function linesIn({ total, files, places }: ExactPlaces): string {
  if (total === 0) {
    return "No line holds it.";
  }
  const shown = places.length < total ? `, the first ${places.length} shown` : "";
  return `${total} ${total === 1 ? "line" : "lines"} in ${files} ${files === 1 ? "file" : "files"}${shown}`;
}

/** Memories by scope. */
export function memoryGroups(memories: readonly Memory[], query: string): ShownGroup[] {
  const matchesIn = wordsOf(query);
  const all = memories.map((memory, index) => ({ memory, index }));
  const scopes = new Set(memories.map(({ scope }) => scope));
  return [...scopes].map((scope) => ({
    title: SCOPE_TITLES[scope] ?? scope,
    folder: "",
    hits: all.filter(({ memory }) => memory.scope === scope).map(({ memory, index }) => ({
      index,
      label: titleOf(memory),
      place: memory.anchor?.path ?? "",
      isLine: false,
      lines: memory.content
        .split(/\r\n|\n|\r/)
        .filter((line) => line.trim() !== "")
        .slice(1, MEMORY_LINES)
        .map((line) => marked(line.trim(), matchesIn)),
    })),
  }));
}

/** How many hits there are, in words. */
export function countOf(groups: readonly ShownGroup[], what: "files" | "scopes"): string {
  const hits = groups.reduce((sum, group) => sum + group.hits.length, 0);
  if (hits === 0) {
    return "Nothing was found.";
  }
  const where = what === "files" ? ` in ${groups.length} ${groups.length === 1 ? "file" : "files"}` : "";
  return `${hits} ${hits === 1 ? "hit" : "hits"}${where}`;
}

function labelOf(hit: CodeHit): string {
  const first = hit.text.split(/\r\n|\n|\r/).find((line) => line.trim() !== "");
  return (hit.symbol || first?.trim() || hit.path).slice(0, LONGEST_DETAIL);
}

function unsaved(hit: CodeHit): string {
  return hit.freshness === "buffer" ? " (unsaved)" : "";
}
