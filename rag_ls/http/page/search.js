// Search as you type, in code, memories and rules.
import { run } from "./api.js";
import { code, el, marked, trying } from "./dom.js";
import { editorLink } from "./editors.js";
import { about, allProjects } from "./memory_parts.js";

const PAUSE_MS = 120;
const HINT = "Type to search; / comes back here, arrows walk the results, Enter shows one, o opens it in the editor.";
let kept = { query: "", project: "", kinds: ["code", "memory", "rules"] };

export async function showSearch(view, signal) {
  const repos = await allProjects();
  if (signal.aborted) return;
  const input = el("input", { type: "search", id: "query", value: kept.query, autocomplete: "off", placeholder: "a question, a name, an error message" });
  const project = el("select", {}, new Option("All projects", ""), repos.map((repo) => new Option(repo.name, repo.root, false, repo.root === kept.project)));
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
    if (!found || query !== input.value || signal.aborted) return;
    const note = found.stats.note ? ` ${found.stats.note}.` : "";
    summary.replaceChildren(found.results.length ? `${found.results.length} results in ${found.stats.took_ms} ms.${note}` : `Nothing found: try other words, fewer of them, or another project.${note}`);
    results.replaceChildren(...found.results.map((item) => el("li", {}, item.kind === "memory" ? memory(item, query, repos) : chunk(item, query, preview))));
  }

  const later = () => { clearTimeout(timer); timer = setTimeout(search, PAUSE_MS); };
  signal.addEventListener("abort", () => { clearTimeout(timer); asked.abort(); });
  input.addEventListener("input", later);
  for (const choice of [project, ...kinds]) choice.addEventListener("change", search);
  view.addEventListener("keydown", (event) => move(event, input, results, preview), { signal });
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
      editorLink(item.file, item.start_line, "open in the editor")),
    code(item.text ?? "", item.start_line, query));
}

async function showPreview(item, query, preview, link) {
  for (const card of document.querySelectorAll('.card[aria-current]')) card.removeAttribute("aria-current");
  link.closest(".card").setAttribute("aria-current", "true");
  const found = (await trying(() => run("get_chunk", { id: item.id, context: "file" }))) ?? item;
  // Another result was chosen, or another question asked, meanwhile.
  if (link.closest(".card")?.getAttribute("aria-current") !== "true" || !link.isConnected) return;
  const shown = code(found.text ?? item.text, found.start_line, query, { from: item.start_line, to: item.end_line, whole: true });
  const close = el("button", { onclick: () => { preview.replaceChildren(); link.focus(); } }, "Close");
  preview.replaceChildren(el("h3", {}, item.path), el("div", { class: "row" }, editorLink(item.file, item.start_line, `Open line ${item.start_line} in the editor`), close), shown);
  const hit = shown.querySelector(".hit");
  if (hit) shown.scrollTop = hit.offsetTop - shown.offsetTop - 60;
  shown.focus();
}

const memory = (item, query, repos) => el("article", { class: "card" }, el("a", { class: "place", href: `#memories/${item.id}` }, "Memory"),
  about(item, repos), el("p", { class: "content" }, marked(item.content, query)));

function move(event, input, results, preview) {
  const links = [...results.querySelectorAll("a.place")], place = links.indexOf(document.activeElement);
  if (event.key === "Escape") {
    const current = results.querySelector('.card[aria-current="true"] a.place');
    if (preview.contains(document.activeElement) && current) current.focus();
    else input.focus();
  }
  if (!["ArrowDown", "ArrowUp"].includes(event.key) || !links.length || (place < 0 && document.activeElement !== input)) return;
  event.preventDefault();
  const next = place + (event.key === "ArrowDown" ? 1 : -1);
  (next < 0 ? input : links[Math.min(next, links.length - 1)]).focus();
}
