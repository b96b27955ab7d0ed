// Search as you type, in code, memories and rules.
import { run } from "./api.js";
import { code, el, marked, trying } from "./dom.js";
import { linkTo } from "./editors.js";

const PAUSE_MS = 120;
const HINT = "Type to search; / comes back here, arrows walk the results, Enter shows one, o opens it in the editor.";
let kept = { query: "", project: "", kinds: ["code", "memory"] };

export async function showSearch(view) {
  const repos = (await trying(() => run("list_repos")))?.repos ?? [];
  const input = el("input", { type: "search", id: "query", value: kept.query, autocomplete: "off", placeholder: "a question, a name, an error message" });
  const project = el("select", {}, new Option("All projects", ""), repos.filter((repo) => !repo.missing).map((repo) => new Option(repo.name, repo.root, false, repo.root === kept.project)));
  const kinds = ["code", "memory", "rules"].map((kind) => el("input", { type: "checkbox", value: kind, checked: kept.kinds.includes(kind) }));
  const summary = el("p", { class: "quiet", role: "status" }, HINT);
  const results = el("ol", { class: "list" });
  const preview = el("section", { "aria-label": "Preview" });
  let asked = new AbortController(), timer;

  async function search() {
    asked.abort();
    asked = new AbortController();
    kept = { query: input.value, project: project.value, kinds: kinds.filter((box) => box.checked).map((box) => box.value) };
    preview.replaceChildren();
    if (!kept.query.trim() || !kept.kinds.length) {
      results.replaceChildren();
      summary.replaceChildren(HINT);
      return;
    }
    const query = kept.query;
    const found = await trying(() => run("search", { query, kinds: kept.kinds, k: 12 }, { project: kept.project, signal: asked.signal }));
    if (!found || query !== input.value) return;
    const note = found.stats.note ? ` ${found.stats.note}.` : "";
    summary.replaceChildren(found.results.length ? `${found.results.length} results in ${found.stats.took_ms} ms.${note}` : `Nothing found: try other words, fewer of them, or another project.${note}`);
    results.replaceChildren(...found.results.map((item) => el("li", {}, item.kind === "memory" ? memory(item, query) : chunk(item, query, preview))));
  }

  const later = () => { clearTimeout(timer); timer = setTimeout(search, PAUSE_MS); };
  input.addEventListener("input", later);
  for (const choice of [project, ...kinds]) choice.addEventListener("change", search);
  view.addEventListener("keydown", (event) => move(event, input, results));
  view.replaceChildren(
    el("h2", {}, "Search"),
    el("form", { class: "bar", role: "search", onsubmit: (event) => { event.preventDefault(); search(); } },
      el("label", { class: "wide" }, "Question ", input), el("label", {}, "Project ", project),
      ["Code", "Memories", "Rules"].map((name, place) => el("label", {}, kinds[place], ` ${name}`))),
    summary, el("div", { class: "panes" }, results, preview));
  input.focus();
  if (kept.query) search();
}

function chunk(item, query, preview) {
  const name = item.symbol ? ` ${item.symbol}` : "";
  const state = item.freshness && item.freshness !== "disk" ? { buffer: "unsaved", changed: "changed since" }[item.freshness] : "";
  const open = async (event) => { event.preventDefault(); await showPreview(item, query, preview, event.currentTarget); };
  return el("article", { class: "card" },
    el("a", { class: "place", href: "#search", onclick: open }, `${item.path}:${item.start_line}${name}`),
    el("div", { class: "quiet" }, [item.kind === "rule" ? "rule" : item.language, state, item.why].filter(Boolean).join(" · "), " · ",
      el("a", { class: "editor", href: linkTo(item.file, item.start_line) }, "open in the editor")),
    code(item.text ?? "", item.start_line, query));
}

async function showPreview(item, query, preview, link) {
  for (const card of document.querySelectorAll('.card[aria-current]')) card.removeAttribute("aria-current");
  link.closest(".card").setAttribute("aria-current", "true");
  const found = (await trying(() => run("get_chunk", { id: item.id, context: "file" }))) ?? item;
  const shown = code(found.text ?? item.text, found.start_line, query, { from: item.start_line, to: item.end_line, whole: true });
  const close = el("button", { onclick: () => { preview.replaceChildren(); link.focus(); } }, "Close");
  preview.replaceChildren(el("h3", {}, item.path), el("div", { class: "row" }, el("a", { href: linkTo(item.file, item.start_line) }, `Open line ${item.start_line} in the editor`), close), shown);
  const hit = shown.querySelector(".hit");
  if (hit) shown.scrollTop = hit.offsetTop - shown.offsetTop - 60;
  shown.focus();
}

function memory(item, query) {
  const anchor = item.anchor ? ` · about ${item.anchor.path}${item.anchor.line ? `:${item.anchor.line}` : ""} (${item.anchor.state})` : "";
  return el("article", { class: "card" }, el("a", { class: "place", href: `#memories/${item.id}` }, "Memory"),
    el("div", { class: "quiet" }, `${item.scope}, ${item.updated_at.slice(0, 10)}${anchor}`), el("p", { class: "content" }, marked(item.content, query)));
}

function move(event, input, results) {
  const links = [...results.querySelectorAll("a.place")], place = links.indexOf(document.activeElement);
  if (event.key === "Escape") input.focus();
  if (!["ArrowDown", "ArrowUp"].includes(event.key) || !links.length || (place < 0 && document.activeElement !== input)) return;
  event.preventDefault();
  const next = place + (event.key === "ArrowDown" ? 1 : -1);
  (next < 0 ? input : links[Math.min(next, links.length - 1)]).focus();
}
