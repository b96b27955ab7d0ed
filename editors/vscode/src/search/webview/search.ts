// The script of the search view's page: sends questions, shows hits as a tree, and moves in it by keyboard.
import type { FromPage, Match, Question, ShownGroup, ShownHit, Subject, ToPage } from "../messages.ts";

interface State {
  readonly question: Question;
}

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void; setState(state: State): void; getState(): State | undefined };

const QUIET_MS = 150;
const PREVIEW_MS = 80;

const vscode = acquireVsCodeApi();
const form = element("form");
const query = element<HTMLInputElement>("query");
const subject = element<HTMLSelectElement>("subject");
const match = element<HTMLSelectElement>("match");
const matchCase = element<HTMLInputElement>("matchCase");
const wholeWords = element<HTMLInputElement>("wholeWords");
const ofLines = element("ofLines");
const language = element<HTMLSelectElement>("language");
const folder = element<HTMLInputElement>("folder");
const summary = element("summary");
const progress = element("progress");
const hits = element("hits");
const welcome = element("welcome");
let asking: number | undefined;
let previewing: number | undefined;

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

function make<K extends keyof HTMLElementTagNameMap>(tag: K, className: string, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

// --- the question

function question(): Question {
  const ofText = { match: match.value as Match, matchCase: matchCase.checked, wholeWords: wholeWords.checked };
  return { query: query.value.trim(), subject: subject.value as Subject, language: language.value, folder: folder.value.trim(), ...ofText };
}

function ask(): void {
  clearTimeout(asking);
  const asked = question();
  vscode.setState({ question: asked });
  vscode.postMessage({ kind: "ask", question: asked });
  if (asked.query === "") {
    show([], "");
  }
}

function fill(given: Partial<Question>): void {
  query.value = given.query ?? query.value;
  subject.value = given.subject ?? subject.value;
  folder.value = given.folder ?? folder.value;
  match.value = given.match ?? match.value;
  matchCase.checked = given.matchCase ?? matchCase.checked;
  wholeWords.checked = given.wholeWords ?? wholeWords.checked;
  if (given.language !== undefined) {
    chooseLanguage(given.language);
  }
  enableFilters();
  vscode.setState({ question: question() });
}

function chooseLanguage(name: string): void {
  if (name && ![...language.options].some((option) => option.value === name)) {
    language.append(new Option(name, name));
  }
  language.value = name;
}

/** Memories have no language and no folder of their own, and lines are neither functions, types nor memories. */
function enableFilters(): void {
  const isOfLines = match.value !== "auto";
  for (const option of subject.options) {
    option.disabled = isOfLines && ["function", "type", "memory"].includes(option.value);
  }
  if (subject.selectedOptions[0]?.disabled) {
    subject.value = "code";
  }
  ofLines.hidden = !isOfLines;
  language.disabled = folder.disabled = subject.value === "memory";
}

// --- the hits

function show(groups: readonly ShownGroup[], text: string): void {
  clearTimeout(previewing);
  // A page that has lost the focus keeps an active element.
  const focused = document.hasFocus() ? document.activeElement?.closest(".row")?.textContent : undefined;
  progress.classList.remove("busy");
  summary.textContent = text;
  welcome.hidden = query.value.trim() !== "" || groups.length > 0;
  hits.scrollTop = 0;
  hits.replaceChildren(...(groups.length > 0 ? [tree(groups)] : []));
  const all = rows();
  all[0]?.setAttribute("tabindex", "0");
  if (focused) {
    // Whoever was in the list before its last answer came stays in it.
    focusRow(all.find((row) => row.textContent === focused) ?? firstHit());
  }
}

/** Not the row of its file: that is what was asked for. */
function firstHit(): HTMLElement | undefined {
  return rows().find((row) => row.classList.contains("hit"));
}

/** Flat, with levels, as the editor's own lists are: each row is named by what it shows. */
function tree(groups: readonly ShownGroup[]): HTMLElement {
  const root = make("div", "tree", ...groups.flatMap((group, at) => [groupRow(group, at), ...group.hits.map((hit) => hitRow(hit, at))]));
  root.setAttribute("role", "tree");
  root.setAttribute("aria-label", subject.value === "memory" ? "Memories by scope" : "Hits by file");
  return root;
}

function groupRow(group: ShownGroup, at: number): HTMLElement {
  const count = make("span", "count", String(group.hits.length), make("span", "spoken", group.hits.length === 1 ? " hit" : " hits"));
  const row = make("div", "group row", make("span", "twistie"), make("span", "title", group.title), " ", make("span", "folder", group.folder), " ", count);
  treeItem(row, 1, at);
  row.setAttribute("aria-expanded", "true");
  row.title = group.folder ? `${group.folder}/${group.title}` : group.title;
  row.addEventListener("click", () => {
    fold(row, row.getAttribute("aria-expanded") === "true");
    focusRow(row);
  });
  return row;
}

function hitRow(hit: ShownHit, at: number): HTMLElement {
  const lines = hit.lines.map((line) =>
    make("div", "line", ...line.map((part) => (part.match ? make("mark", "", part.text) : document.createTextNode(part.text)))),
  );
  const place = make("span", "place", make("span", "spoken", hit.isLine ? " line " : " "), hit.place);
  const row = make("div", "hit row", make("div", "name", make("span", "label", hit.label), place), make("div", hit.isLine ? "snippet" : "snippet prose", ...lines));
  treeItem(row, 2, at);
  row.dataset["index"] = String(hit.index);
  row.addEventListener("click", () => focusRow(row));
  row.addEventListener("dblclick", () => open(row, false));
  return row;
}

function treeItem(row: HTMLElement, level: number, group: number): void {
  row.setAttribute("role", "treeitem");
  row.setAttribute("aria-level", String(level));
  row.dataset["group"] = String(group);
  row.tabIndex = -1;
}

// --- moving

function rows(): HTMLElement[] {
  return [...hits.querySelectorAll<HTMLElement>(".row:not([hidden])")];
}

function focusRow(row: HTMLElement | undefined): void {
  if (!row) {
    return;
  }
  hits.querySelectorAll(".row[tabindex='0']").forEach((each) => each.setAttribute("tabindex", "-1"));
  row.tabIndex = 0;
  row.focus();
  row.scrollIntoView({ block: "nearest" });
  clearTimeout(previewing);
  // Somebody who holds the arrow down wants none of those in between.
  previewing = window.setTimeout(() => open(row, true), PREVIEW_MS);
}

function open(row: HTMLElement, preview: boolean): void {
  const index = row.dataset["index"];
  if (index !== undefined) {
    clearTimeout(previewing);
    vscode.postMessage({ kind: "show", index: Number(index), preview });
  } else if (!preview) {
    fold(row, row.getAttribute("aria-expanded") === "true");
  }
}

function fold(row: HTMLElement, closed: boolean): void {
  row.setAttribute("aria-expanded", String(!closed));
  for (const hit of hits.querySelectorAll<HTMLElement>(`.hit[data-group="${row.dataset["group"]}"]`)) {
    hit.hidden = closed;
  }
}

function move(row: HTMLElement, key: string): boolean {
  const all = rows();
  const at = all.indexOf(row);
  const isGroup = row.hasAttribute("aria-expanded");
  switch (key) {
    case "ArrowDown":
      focusRow(all[Math.min(at + 1, all.length - 1)]);
      return true;
    case "ArrowUp":
      at === 0 ? query.focus() : focusRow(all[at - 1]);
      return true;
    case "Home":
      focusRow(all[0]);
      return true;
    case "End":
      focusRow(all.at(-1));
      return true;
    case "ArrowRight":
      isGroup && row.getAttribute("aria-expanded") === "true" ? focusRow(all[at + 1]) : isGroup && fold(row, false);
      return true;
    case "ArrowLeft":
      isGroup ? fold(row, true) : focusRow(hits.querySelector<HTMLElement>(`.group[data-group="${row.dataset["group"]}"]`) ?? undefined);
      return true;
    case "Enter":
    case " ":
      open(row, key === " ");
      return true;
    case "Escape":
      query.focus();
      query.select();
      return true;
    default:
      return false;
  }
}

// --- what happens

query.addEventListener("input", () => {
  clearTimeout(asking);
  asking = window.setTimeout(ask, QUIET_MS);
});
folder.addEventListener("change", ask);
language.addEventListener("change", ask);
language.addEventListener("focus", () => vscode.postMessage({ kind: "languages" }));
matchCase.addEventListener("change", ask);
wholeWords.addEventListener("change", ask);
for (const choice of [subject, match]) {
  choice.addEventListener("change", () => {
    enableFilters();
    ask();
  });
}
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !(event.target instanceof HTMLSelectElement)) {
    ask();
  } else if (event.key === "ArrowDown" && event.target instanceof HTMLInputElement) {
    event.preventDefault();
    focusRow(firstHit());
  }
});
hits.addEventListener("keydown", (event) => {
  const row = (event.target as HTMLElement).closest<HTMLElement>(".row");
  if (row && !event.ctrlKey && !event.metaKey && !event.altKey && move(row, event.key)) {
    event.preventDefault();
  }
});
window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
  switch (data.kind) {
    case "answer":
      show(data.groups, data.summary);
      break;
    case "busy":
      progress.classList.add("busy");
      break;
    case "problem":
      show([], data.text);
      break;
    case "languages": {
      const chosen = language.value;
      if (data.names.join() === [...language.options].slice(1).map((option) => option.value).join()) {
        break;
      }
      language.replaceChildren(new Option("Any language", ""), ...data.names.map((name) => new Option(name, name)));
      chooseLanguage(chosen);
      break;
    }
    case "form":
      fill(data.question);
      // Whoever types already is not to lose what they typed.
      if (data.focus && document.activeElement !== query) {
        query.focus();
        query.select();
      }
      if (data.ask) {
        ask();
      }
      break;
  }
});

const former = vscode.getState();
if (former) {
  fill(former.question);
}
vscode.postMessage({ kind: "ready", ...(former?.question.query ? { question: former.question } : {}) });
