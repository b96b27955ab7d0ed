// Hits as lines to pick from: no editor in here, so that it can be tested without one.
import type { CodeHit } from "../server/answers.ts";

export interface Shown {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
}

const LONGEST_DETAIL = 160;

/** How a hit reads in a list: its symbol (else its first line), where it is, and what of it matters. */
export function shown(hit: CodeHit): Shown {
  const lines = hit.text.split(/\r\n|\n|\r/).map((line) => line.trim()).filter((line) => line !== "");
  const [first = hit.path] = lines;
  const label = hit.symbol || first;
  const detail = lines.slice(hit.symbol ? 0 : 1).join(" ").replaceAll(/([([{]) | (?=[)\]}])/g, "$1");
  const unsaved = hit.freshness === "buffer" ? " (unsaved)" : "";
  return {
    label: label.slice(0, LONGEST_DETAIL),
    description: `${hit.path}:${hit.start_line}${unsaved}`,
    detail: detail.length > LONGEST_DETAIL ? `${detail.slice(0, LONGEST_DETAIL - 1)}…` : detail,
  };
}

export interface FileHits {
  readonly path: string;
  readonly file: string;
  readonly hits: readonly CodeHit[];
}

/** Hits by file, in the order of each file's best one. */
export function byFile(hits: readonly CodeHit[]): FileHits[] {
  const files = new Map<string, CodeHit[]>();
  for (const hit of hits) {
    const known = files.get(hit.file);
    if (known) {
      known.push(hit);
    } else {
      files.set(hit.file, [hit]);
    }
  }
  return [...files].map(([file, found]) => ({
    path: found[0]?.path ?? file,
    file,
    hits: found.toSorted((one, other) => one.start_line - other.start_line),
  }));
}
