// Search as you type, in code, memories and rules: the hits left, the file of one of them right.
import { noteInAddress } from "./address.js";
import { run } from "./api.js";
import { file, snippet } from "./code.js";
import { el, many, trying } from "./dom.js";
import { editorLink } from "./editors.js";
import { about } from "./memory_parts.js";
import { marked, textOf, wordsOf } from "./words.js";

const PAUSE_MS = 120, FILE_PAUSE_MS = 60, HITS = 20;
const LINES = 200;
const MATCHES = { auto: "Meaning", exact: "Exact text", regex: "Regular expression" };
const KINDS = { code: "Code", memory: "Memories", rules: "Rules" };
const STATES = { buffer: "unsaved", changed: "changed since" };
const EXAMPLES = ["where is the retry delay computed", "parseCookie", "connection refused"];
const KEYS = [["/", "comes here from anywhere"], ["↓ ↑", "choose a hit; its file follows"], ["Enter", "opens it in your editor at the line"], ["PageDown PageUp", "scroll the file"], ["Esc", "comes back here from the file"]];

export function showSearch(at) {
  const search = new Search(at);
  search.show();
}

class Search {
  constructor({ view, signal, values, project, repos }) {
    Object.assign(this, { view, signal, project, repos });
    this.asked = new AbortController();
    this.found = { query: "", results: [], matchesIn: wordsOf("") };
    this.selected = -1;
    this.query = el("input", {
      type: "text", id: "query", value: values.get("q") ?? "", autocomplete: "off", spellcheck: "false", placeholder: "A question, a name, an error message",
      role: "combobox", "aria-label": "Question", "aria-controls": "hits", "aria-expanded": "false", "aria-autocomplete": "list",
    });
    const kinds = values.get("in")?.split(",") ?? Object.keys(KINDS);
    this.kinds = Object.keys(KINDS).map((kind) => el("input", { type: "checkbox", value: kind, checked: kinds.includes(kind) }));
    this.language = el("input", { value: values.get("lang") ?? "", placeholder: "any", list: "languages", class: "short", spellcheck: "false" });
    this.path = el("input", { value: values.get("path") ?? "", placeholder: "any, e.g. src/**", spellcheck: "false" });
    this.match = el("select", { id: "match", title: "Exact text and regular expressions find every line of code that holds them, counted" }, Object.entries(MATCHES).map(([value, name]) => el("option", { value, selected: value === (values.get("match") ?? "auto") }, name)));
    this.case = el("input", { type: "checkbox", id: "case", checked: values.has("case") });
    this.word = el("input", { type: "checkbox", id: "word", checked: values.has("word") });
    this.ofLines = el("span", { class: "group", role: "group", "aria-label": "Of lines" }, el("label", { class: "choice" }, this.case, "Match case"), el("label", { class: "choice" }, this.word, "Whole words"));
    this.ofMeaning = el("span", { class: "group", role: "group", "aria-label": "What to search" }, this.kinds.map((box) => el("label", { class: "choice" }, box, KINDS[box.value])));
    this.languages = el("datalist", { id: "languages" });
    this.summary = el("p", { class: "quiet", role: "status" });
    this.note = el("p", { class: "quiet" });
    this.hits = el("ol", { id: "hits", role: "listbox", "aria-label": "Hits" });
    this.file = el("section", { class: "file", "aria-label": "The chosen hit" });
    this.panes = el("div", { class: "panes" }, this.hits, this.file);
    this.welcome = el("div", { class: "welcome" },
      el("p", {}, "Ask a question about the code, or type a name:"), el("ul", {}, EXAMPLES.map((text) => el("li", {}, el("button", { class: "link", onclick: () => this.askFor(text) }, text)))),
      el("dl", { class: "keys" }, KEYS.map(([keys, what]) => el("div", {}, el("dt", {}, keys.split(" ").map((key) => el("kbd", {}, key))), el("dd", {}, what)))));
  }

  show() {
    const form = el("form", { class: "search", role: "search", onsubmit: (event) => event.preventDefault() },
      el("div", { class: "query" }, this.query),
      el("div", { class: "bar" }, el("label", {}, "Find by ", this.match), this.ofMeaning, this.ofLines,
        el("label", {}, "Language ", this.language), el("label", {}, "Files ", this.path), this.languages, this.summary), this.note);
    this.query.addEventListener("input", () => this.later());
    this.query.addEventListener("keydown", (event) => this.press(event));
    for (const field of [...this.kinds, this.match, this.case, this.word, this.language, this.path]) field.addEventListener("change", () => this.ask());
    this.file.addEventListener("keydown", (event) => { if (event.key === "Escape") this.comeBack(); });
    this.signal.addEventListener("abort", () => { clearTimeout(this.timer); clearTimeout(this.fileTimer); this.asked.abort(); });
    this.view.replaceChildren(el("h2", { class: "spoken" }, "Search"), form, this.welcome, this.panes);
    this.query.focus();
    this.offerLanguages();
    this.ask();
  }

  async offerLanguages() {
    const status = await run("engine_status", this.project ? { details: true, project: [this.project.root] } : { details: true, open_only: true }, { signal: this.signal }).catch(() => undefined);
    const names = new Set((status?.projects ?? []).flatMap((project) => Object.keys(project.languages ?? {})));
    this.languages.replaceChildren(...[...names].sort().map((name) => new Option(name, name)));
  }

  askFor(text) {
    this.query.value = text;
    this.query.focus();
    this.ask();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), PAUSE_MS);
  }

  /** Ask what stands in the form, and note it in the address. */
  async ask() {
    clearTimeout(this.timer);
    this.asked.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    const query = this.query.value.trim(), kinds = this.kinds.filter((box) => box.checked).map((box) => box.value);
    const language = this.language.value.trim(), path_glob = this.path.value.trim();
    const match = this.match.value, isOfLines = match !== "auto";
    this.ofMeaning.hidden = isOfLines;
    this.ofLines.hidden = !isOfLines;
    noteInAddress({ match: isOfLines ? match : "", case: isOfLines && this.case.checked ? "1" : "", word: isOfLines && this.word.checked ? "1" : "", q: query, in: kinds.length < this.kinds.length ? kinds.join(",") : "", lang: language, path: path_glob });
    document.title = query ? `${query} - rag-ls` : "rag-ls: search";
    if (!query || !(kinds.length || isOfLines)) return this.fill({ query, results: [] }, query ? "Choose what to search." : "");
    this.panes.setAttribute("aria-busy", "true");
    const asked = isOfLines
      ? () => run("search_code", { query, match, k: LINES, ignore_case: !this.case.checked, whole_words: this.word.checked, language, path_glob }, { project: this.project?.root, signal })
      : () => run("search", { query, kinds, k: HITS, language, path_glob }, { project: this.project?.root, signal });
    const found = await trying(asked);
    if (signal.aborted || this.signal.aborted) return;
    this.panes.removeAttribute("aria-busy");
    // An expression is not marked: the browser's dialect is not that of the search.
    const matchesIn = match === "exact" ? textOf(query, { isCaseIgnored: !this.case.checked, isWhole: this.word.checked }) : () => [];
    if (isOfLines) return this.fill({ query, results: (found?.exact.places ?? []).map(lineHit), matchesIn }, found ? counted(found) : "", found?.exact.left_out);
    this.fill({ query, results: found?.results ?? [] }, found ? summed(found) : "", found?.stats.note);
  }

  fill({ query, results, matchesIn = wordsOf(query) }, words, note = "") {
    this.found = { query, results, matchesIn };
    this.selected = -1;
    this.summary.replaceChildren(words);
    this.note.replaceChildren(note);
    this.note.hidden = !note;
    this.welcome.hidden = query !== "";
    this.panes.hidden = !results.length;
    this.panes.classList.remove("reading");
    this.hits.replaceChildren(...results.map((hit, place) => this.row(hit, place)));
    this.hits.scrollTop = 0;
    this.query.setAttribute("aria-expanded", String(results.length > 0));
    if (results.length) this.select(0);
    else { this.file.replaceChildren(); this.query.removeAttribute("aria-activedescendant"); }
  }

  row(hit, place) {
    const { matchesIn } = this.found;
    const choose = () => { this.select(place); this.panes.classList.add("reading"); };
    // The question keeps the focus, and so the keys.
    return el("li", { id: `hit-${place}`, role: "option", "aria-selected": "false", onmousedown: (event) => { if (!event.shiftKey) event.preventDefault(); }, onclick: choose, ondblclick: () => this.open() },
      hit.kind === "memory" ? memoryRow(hit, matchesIn) : codeRow(hit, matchesIn, this.project ? "" : this.nameOf(hit.project)));
  }

  nameOf(root) {
    // Where only one is known, answers do not name it.
    const only = this.project ?? (this.repos.length === 1 ? this.repos[0] : undefined);
    return (this.repos.find((repo) => repo.root === root) ?? only)?.label ?? "";
  }

  select(place) {
    this.hits.children[this.selected]?.setAttribute("aria-selected", "false");
    this.selected = place;
    const row = this.hits.children[place];
    row.setAttribute("aria-selected", "true");
    row.scrollIntoView({ block: "nearest" });
    this.query.setAttribute("aria-activedescendant", row.id);
    clearTimeout(this.fileTimer);
    // Who holds the arrow down wants none of those in between.
    this.fileTimer = setTimeout(() => this.showChosen(), FILE_PAUSE_MS);
  }

  async showChosen() {
    const hit = this.found.results[this.selected], { matchesIn } = this.found;
    if (hit.kind === "memory") return this.file.replaceChildren(this.back(), ...memoryFile(hit, this.project, matchesIn));
    const whole = (await trying(() => run("get_chunk", { id: hit.id, context: "file" }, { signal: this.asked.signal }))) ?? hit;
    // Another hit was chosen, or another question asked, meanwhile.
    if (hit !== this.found.results[this.selected] || this.signal.aborted) return;
    const shown = file({ text: whole.text ?? "", first: whole.start_line, language: hit.language ?? whole.language, from: hit.start_line, to: hit.end_line }, matchesIn);
    this.file.replaceChildren(this.back(), ...fileHead(hit, this.nameOf(hit.project)), shown);
    const first = shown.querySelector(".hit");
    if (first) shown.scrollTop = first.offsetTop - shown.offsetTop - shown.clientHeight / 5;
  }

  back() {
    return el("button", { class: "back", onclick: () => this.comeBack() }, "← Back to the hits");
  }

  comeBack() {
    this.panes.classList.remove("reading");
    this.query.focus();
  }

  open() {
    this.file.querySelector("a.open")?.click();
  }

  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], page = { PageDown: 0.8, PageUp: -0.8 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape") this.panes.classList.contains("reading") ? this.comeBack() : this.query.select();
    else if (event.key === "Enter") this.found.query === this.query.value.trim() ? this.open() : this.ask();
    else if (step && this.found.results.length) this.select(Math.max(0, Math.min(this.selected + step, this.found.results.length - 1)));
    else if (page) this.file.querySelector("pre")?.scrollBy({ top: page * this.file.clientHeight });
    else return;
    event.preventDefault();
  }
}

/** What the answer holds and what it could not see, in words. */
function summed({ results, stats }) {
  const count = results.length ? `${many(results.length, "hit")} in ${Math.round(stats.took_ms)} ms.` : "Nothing found: try other words, fewer of them, or another project.";
  const { words, vectors } = stats.indexed_percent ?? {};
  const missing = stats.complete || words === undefined ? "" : ` Still being indexed: ${words} % is found by words, ${vectors} % by meaning.`;
  return `${count}${missing}`;
}

/** A line as a hit of one line. */
const lineHit = ({ line, ...place }) => ({ ...place, kind: "line", id: `${place.file || place.path}:${line}`, start_line: line, end_line: line });

/** How many lines there are, and how many are shown. */
function counted({ exact, stats }) {
  if (!exact.total) return "No line holds it.";
  const shown = exact.places.length < exact.total ? `, the first ${exact.places.length} below` : "";
  return `${many(exact.total, "line")} in ${many(exact.files, "file")}${shown}, in ${Math.round(stats.took_ms)} ms.`;
}

const folderOf = (path) => path.slice(0, path.lastIndexOf("/") + 1);
const nameIn = (path) => path.slice(path.lastIndexOf("/") + 1);

function codeRow(hit, matchesIn, project) {
  const facts = [project, hit.kind === "rule" ? "rule" : "", STATES[hit.freshness]].filter(Boolean);
  return [el("div", { class: "head" }, el("span", { class: "label" }, hit.symbol || nameIn(hit.path)), facts.map((fact) => el("span", { class: "tag" }, fact))),
    el("div", { class: "quiet place" }, folderOf(hit.path), el("span", { class: "name" }, `${nameIn(hit.path)}:${hit.start_line}`)),
    snippet({ text: hit.text ?? "", first: hit.start_line, language: hit.language }, matchesIn),
    ...(hit.far ? [] : hit.places ?? []).map(({ line, symbol, text }) => el("div", { class: "quiet place" }, `:${line} `, el("span", { class: "name" }, symbol), " ", marked(text.trim(), matchesIn)))];
}

function memoryRow(hit, matchesIn) {
  const [title, ...rest] = hit.content.split("\n").filter((line) => line.trim());
  return [el("div", { class: "head" }, el("span", { class: "label" }, marked(title ?? "", matchesIn)), el("span", { class: "tag" }, "memory")),
    el("div", { class: "quiet place" }, hit.anchor?.path || (hit.metadata.tags ?? []).join(", ")),
    el("div", { class: "prose" }, rest.slice(0, 3).map((line) => el("p", {}, marked(line, matchesIn))))];
}

const fileHead = (hit, project) => [
  el("div", { class: "head" }, el("h3", {}, el("span", { class: "quiet" }, project && `${project} / `, folderOf(hit.path)), nameIn(hit.path)),
    editorLink(hit.file, hit.start_line, `Open line ${hit.start_line}`, "open")),
  el("p", { class: "quiet" }, [hit.symbol, hit.start_line === hit.end_line ? `line ${hit.start_line}` : `lines ${hit.start_line} to ${hit.end_line}`, STATES[hit.freshness], hit.why && `found by ${hit.why}`].filter(Boolean).join(" · ")),
];

const memoryFile = (hit, project, matchesIn) => [
  el("div", { class: "head" }, el("h3", {}, "Memory"), el("a", { class: "open", href: `#memories/${hit.id}` }, "Edit, history")),
  el("div", { class: "prose whole", tabindex: "0", role: "group", "aria-label": "The memory" }, el("p", { class: "content" }, marked(hit.content, matchesIn)), about(hit, project)),
];
