// Which view is shown, in which colours.
import { listen } from "./api.js";
import { offerEditors } from "./editors.js";
import { showMemories } from "./memories.js";
import { showProjects } from "./projects.js";
import { showSearch } from "./search.js";
import { showStatus } from "./status.js";

const view = document.getElementById("view");
const theme = document.getElementById("theme");
const REFRESH_MS = 500;
let shown = new AbortController();

function show() {
  const [name, id] = (location.hash.slice(1) || "search").split("/");
  shown.abort();
  shown = new AbortController();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `rag-ls: ${name}`;
  const views = { search: showSearch, memories: showMemories, projects: showProjects, status: showStatus };
  (views[name] ?? showSearch)(view, name === "status" ? shown.signal : id);
}

function colour() {
  theme.value = localStorage.getItem("rag-ls.theme") ?? "";
  if (theme.value) document.documentElement.dataset.theme = theme.value;
  else delete document.documentElement.dataset.theme;
}

theme.addEventListener("change", () => { localStorage.setItem("rag-ls.theme", theme.value); colour(); });
window.addEventListener("hashchange", show);
document.addEventListener("keydown", (event) => {
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "o") document.activeElement.closest(".card")?.querySelector("a.editor")?.click();
  if (event.key === "/") {
    event.preventDefault();
    if (location.hash.startsWith("#search") || !location.hash) document.getElementById("query")?.focus();
    else location.hash = "#search";
  }
});
offerEditors(document.getElementById("editor"), show);
colour();
show();
const VIEW_OF = { index_complete: "#projects", index_progressed: "#projects", memory_changed: "#memories" };
let refresh;
listen((name) => {
  if (VIEW_OF[name] !== location.hash) return;
  clearTimeout(refresh);
  // What somebody is working at is not taken from under their hands.
  refresh = setTimeout(() => { if (VIEW_OF[name] === location.hash && !view.contains(document.activeElement)) show(); }, REFRESH_MS);
}, new AbortController().signal);
