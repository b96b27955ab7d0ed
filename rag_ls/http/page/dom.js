// Elements without markup: texts never become HTML.

/** An element with properties (`on...` are listeners, others attributes) and children. */
export function el(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== ""));
  return made;
}

/** Tell the user something, with an optional button. */
export function tell(text, action) {
  const told = document.getElementById("told");
  told.replaceChildren(text);
  if (action) told.append(" ", el("button", { onclick: () => { told.replaceChildren(); action.run(); } }, action.name));
  clearTimeout(told.timer);
  told.timer = setTimeout(() => told.replaceChildren(), action ? 15000 : 6000);
}

/** Run something that may be refused, and say so in words. */
export async function trying(work) {
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") tell(error.message);
    return undefined;
  }
}

const COMMON = new Set("and are can did does done for from had has have how into its not our that the their there they this was were what when where which who why will with you your".split(" "));

/** A text with the words of a question marked, in whatever form they begin with: "parsed" marks "parse" and "parser". */
export function marked(text, question) {
  const words = (question.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? []).filter((word) => !COMMON.has(word));
  const stems = new Set(words.map((word) => word.replace(/(?<=.{4})(?:e?s|ed|ing)$/, "")));
  if (!stems.size) return [text];
  const pattern = new RegExp(`(?<!\\p{L})((?:${[...stems].join("|")})[\\p{L}\\p{N}]*)`, "giu");
  return text.split(pattern).map((part, place) => (place % 2 ? el("mark", {}, part) : part));
}

/** Code with numbered lines from `first`; lines `from` to `to` are marked. */
export function code(text, first, question, { from = 0, to = -1, whole = false } = {}) {
  const lines = text.replace(/\n$/, "").split("\n").map((line, place) => {
    const number = first + place;
    const is_hit = number >= from && number <= to;
    return el("span", { class: is_hit ? "line hit" : "line" }, el("span", { class: "number", "aria-hidden": "true" }, String(number)), marked(line, question), "\n");
  });
  return el("pre", { class: whole ? "whole" : undefined, tabindex: "0", role: "group", "aria-label": "Code" }, lines);
}
