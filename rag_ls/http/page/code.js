// Code as it is shown: numbered lines in colours, with the words of the question marked.
import { colouredLines } from "./colours.js";
import { el, many } from "./dom.js";
import { countWords, markedParts } from "./words.js";

const MAX_SNIPPET_LINES = 4;
// A browser shows so many at once without a pause.
const MAX_FILE_LINES = 3000, MAX_LINE_CHARS = 1000;

/** The lines of a text that say what it is and answer the question: the first, and of the others those with most of its words. */
export function snippet({ text, first, language }, matchesIn) {
  const lines = linesOf(text, first, language).filter(({ plain }) => /[\p{L}\p{N}]/u.test(plain));
  const rest = lines.slice(1).map((line) => ({ line, count: countWords(line.plain, matchesIn) }));
  const best = rest.filter(({ count }) => count).sort((one, other) => other.count - one.count);
  const chosen = [...lines.slice(0, 1), ...(best.length ? best : rest).slice(0, MAX_SNIPPET_LINES - 1).map(({ line }) => line)].sort((one, other) => one.number - other.number);
  const indent = Math.min(...chosen.map(({ plain }) => plain.length - plain.trimStart().length));
  return el("div", { class: "code snippet" }, chosen.map((line) => shownLine({ ...line, parts: dedented(line.parts, indent) }, matchesIn)));
}

/** A whole text, or what is around the lines `from` to `to` of a long one; those are marked. */
export function file({ text, first, language, from, to }, matchesIn) {
  const all = linesOf(text.replace(/\n$/, ""), first, language);
  const start = Math.max(0, Math.min(from - first - MAX_FILE_LINES / 2, all.length - MAX_FILE_LINES));
  const lines = all.slice(start, start + MAX_FILE_LINES);
  return el("pre", { class: "code", tabindex: "0", role: "group", "aria-label": "The file" },
    leftOut(start), lines.map((line) => shownLine(line, matchesIn, line.number >= from && line.number <= to)), leftOut(all.length - start - lines.length));
}

const leftOut = (count) => (count > 0 ? el("span", { class: "line quiet" }, `(left out here: ${many(count, "line")})\n`) : "");

const cut = (line) => (line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)} …` : line);

const linesOf = (text, first, language) => colouredLines(text.split("\n").map(cut).join("\n"), language).map((parts, place) => ({ number: first + place, parts, plain: parts.map((part) => part.text).join("") }));

function shownLine({ number, parts }, matchesIn, is_hit = false) {
  const coloured = markedParts(parts, matchesIn).map((nodes, place) => (parts[place].kind ? el("span", { class: parts[place].kind }, nodes) : nodes));
  return el("span", { class: is_hit ? "line hit" : "line" }, el("span", { class: "lineno", "aria-hidden": "true" }, String(number)), coloured.flat(), "\n");
}

function dedented(parts, indent) {
  let left = indent;
  return parts.map(({ text, kind }) => {
    const cut = Math.min(left, text.length - text.trimStart().length);
    left = cut < text.length ? 0 : left - cut;
    return { text: text.slice(cut), kind };
  });
}
