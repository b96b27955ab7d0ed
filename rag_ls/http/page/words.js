// Which words of a text are those of a question, in whatever form: as VS Code's view marks them (editors/vscode/src/search/snippet.ts).
import { el } from "./dom.js";

const SHORTEST = 3;
// Written from rag_ls/retrieval/stop_words.py by scripts/dev.py docs.
const EVERYDAY = new Set("and are did does for from how into not that the this was what when where which who with".split(" "));

/** The stems of a question's words, without everyday ones; names are taken apart (`retryDelay`, `retry_delay`). */
export const stemsOf = (question) => new Set(wordsIn(question).map(({ word }) => stem(word)).filter((word) => word.length >= SHORTEST && !EVERYDAY.has(word)));

/** How many of the stems a text holds. */
export const countStems = (text, stems) => new Set(matchesIn(text, stems).map(({ word }) => stem(word))).size;

/** A text with the words marked that share a stem with the question. */
export function marked(text, stems) {
  const parts = [];
  let end = 0;
  for (const { start, word } of matchesIn(text, stems)) {
    parts.push(text.slice(end, start), el("mark", {}, word));
    end = start + word.length;
  }
  return [...parts, text.slice(end)];
}

const matchesIn = (text, stems) => wordsIn(text).filter(({ word }) => stems.has(stem(word)));

const wordsIn = (text) => [...text.matchAll(/\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{Lo}+|\p{N}+/gu)].map((found) => ({ start: found.index, word: found[0] }));

/** A word without its commonest English endings: enough to see that "retries" is "retry". */
function stem(word) {
  const lower = word.toLowerCase();
  const bare = lower.replace(/(?<=\p{L}{3})(ies|ied|ie)$/u, "y").replace(/(?<=\p{L}{3})(ing|ed|es|s|e)$/u, "");
  return bare.length < lower.length ? bare.replace(/([^aeiouls])\1$/u, "$1") : bare;
}
