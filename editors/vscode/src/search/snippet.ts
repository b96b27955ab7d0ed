// Which lines of a hit are shown, and which words in them are marked: no editor in here, so that it can be tested without one.

export interface Part {
  readonly text: string;
  readonly match: boolean;
}

/** A line in its parts. */
export type SnippetLine = readonly Part[];

const MOST_LINES = 4;
const LONGEST_LINE = 200;
const SHORTEST_WORD = 3;
// Written from rag_ls/search/terms.py by scripts/dev.py docs.
const EVERYDAY = new Set("and are did does for from how into not that the this was what when where which who with".split(" "));

/** Finds in a text what is to be marked there. */
export type Matcher = (text: string) => readonly { readonly start: number; readonly word: string }[];

/** Finds the words that share a stem with the question, without everyday ones; names are taken apart (`retryDelay`, `retry_delay`). */
export function wordsOf(query: string): Matcher {
  const stems = new Set(wordsIn(query).map(({ word }) => stem(word)).filter((word) => word.length >= SHORTEST_WORD && !EVERYDAY.has(word)));
  return (text) => wordsIn(text).filter(({ word }) => stems.has(stem(word)));
}

/** Finds an exact text. */
export function textOf(searched: string, { isCaseIgnored, isWhole }: { readonly isCaseIgnored: boolean; readonly isWhole: boolean }): Matcher {
  const escaped = searched.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, "\\$&");
  const pattern = new RegExp(isWhole ? `(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])` : escaped, isCaseIgnored ? "giu" : "gu");
  return (text) => [...text.matchAll(pattern)].map((found) => ({ start: found.index, word: found[0] }));
}

/** The first lines of a hit's text, or those of a longer one that hold most of what matches; in their order. */
export function snippet(text: string, matchesIn: Matcher): SnippetLine[] {
  const lines = text
    .split(/\r\n|\n|\r/)
    .map((line, at) => ({ at, line, matches: new Set(matchesIn(line).map(({ word }) => stem(word))).size }))
    .filter(({ line }) => /[\p{L}\p{N}]/u.test(line));
  const [head, ...rest] = lines;
  if (!head) {
    return [];
  }
  // The first line says what it is; of the others those that answer, if any does.
  const answering = rest.filter(({ matches }) => matches > 0);
  const best = (answering.length > 0 ? answering : rest).toSorted((one, other) => other.matches - one.matches || one.at - other.at).slice(0, MOST_LINES - 1);
  const chosen = [head, ...best].toSorted((one, other) => one.at - other.at);
  const indent = Math.min(...chosen.map(({ line }) => line.length - line.trimStart().length));
  return chosen.map(({ line }) => marked(line.slice(indent, indent + LONGEST_LINE), matchesIn));
}

/** A text in parts, of which those are matches that the matcher finds. */
export function marked(text: string, matchesIn: Matcher): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const { start, word } of matchesIn(text)) {
    if (start > end) {
      parts.push({ text: text.slice(end, start), match: false });
    }
    parts.push({ text: word, match: true });
    end = start + word.length;
  }
  return end < text.length ? [...parts, { text: text.slice(end), match: false }] : parts;
}

function wordsIn(text: string): { start: number; word: string }[] {
  return [...text.matchAll(/\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{Lo}+|\p{N}+/gu)].map((found) => ({ start: found.index, word: found[0] }));
}

/** A word without its commonest English endings: enough to see that "retries" is "retry". */
function stem(word: string): string {
  const lower = word.toLowerCase();
  const bare = lower.replace(/(?<=\p{L}{3})(ies|ied|ie)$/u, "y").replace(/(?<=\p{L}{3})(ing|ed|es|s|e)$/u, "");
  // "signed" and "sign", "stopped" and "stop".
  return bare.length < lower.length ? bare.replace(/([^aeiouls])\1$/u, "$1") : bare;
}
