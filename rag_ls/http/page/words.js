// Which words of a text are those of a question, in whatever form: as VS Code's view marks them (editors/vscode/src/search/snippet.ts).
import { el } from "./dom.js";

const SHORTEST = 3;
// Written from rag_ls/search/stop_words.py by scripts/dev.py docs.
const EVERYDAY = new Set("and are did does for from how into not that the this was what when where which who with".split(" "));

/** Finds in a text the words that share a stem with the question, without everyday ones; names are taken apart (`retryDelay`, `retry_delay`). */
export function wordsOf(question) {
  const stems = new Set(wordsIn(question).map(({ word }) => stem(word)).filter((word) => word.length >= SHORTEST && !EVERYDAY.has(word)));
  return (text) => wordsIn(text).filter(({ word }) => stems.has(stem(word)));
}

/** Finds an exact text in another. */
export function textOf(searched, { isCaseIgnored, isWhole }) {
  const escaped = searched.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&");
  const pattern = new RegExp(isWhole ? `(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])` : escaped, isCaseIgnored ? "giu" : "gu");
  return (text) => [...text.matchAll(pattern)].map((found) => ({ start: found.index, word: found[0] }));
}

/** How many different words of the question a text holds. */
export const countWords = (text, matchesIn) => new Set(matchesIn(text).map(({ word }) => stem(word))).size;

/** A text with what `matchesIn` finds in it marked. */
export const marked = (text, matchesIn) => markedParts([{ text }], matchesIn)[0];

/** The nodes of each part of a text; a match may reach over several parts, as a call does over a name and its bracket. */
export function markedParts(parts, matchesIn) {
  const matches = matchesIn(parts.map(({ text }) => text).join(""));
  let offset = 0;
  return parts.map(({ text }) => {
    const nodes = [], begin = offset;
    let end = 0;
    offset += text.length;
    for (const { start, word } of matches) {
      const from = Math.max(start - begin, 0), to = Math.min(start + word.length - begin, text.length);
      if (from >= to) continue;
      nodes.push(text.slice(end, from), el("mark", {}, text.slice(from, to)));
      end = to;
    }
    return [...nodes, text.slice(end)];
  });
}

const wordsIn = (text) => [...text.matchAll(/\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{Lo}+|\p{N}+/gu)].map((found) => ({ start: found.index, word: found[0] }));

/** A word without its commonest English endings: enough to see that "retries" is "retry". */
function stem(word) {
  const lower = word.toLowerCase();
  const bare = lower.replace(/(?<=\p{L}{3})(ies|ied|ie)$/u, "y").replace(/(?<=\p{L}{3})(ing|ed|es|s|e)$/u, "");
  return bare.length < lower.length ? bare.replace(/([^aeiouls])\1$/u, "$1") : bare;
}
