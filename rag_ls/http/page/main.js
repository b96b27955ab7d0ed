// Which view is shown, in which colours.
import { listen } from "./api.js";
import { offerEditors, relink } from "./editors.js";
import { showMemories } from "./memories.js";
import { showProjects } from "./projects.js";
import { showSearch } from "./search.js";
import { showStatus } from "./status.js";

const view = document.getElementById("view");
const theme = document.getElementById("theme");
const VIEWS = { search: showSearch, memories: showMemories, projects: showProjects, status: showStatus };
const REFRESH_MS = 500;
const VIEW_OF = { index_complete: "#projects", index_progressed: "#projects", memory_changed: "#memories" };
let shown = new AbortController();
let refresh;

function show() {
  const [name, ...rest] = (location.hash.slice(1) || "search").split("/");
  shown.abort();
  shown = new AbortController();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `rag-ls: ${name}`;
  (VIEWS[name] ?? showSearch)(view, shown.signal, rest.map(decodeURIComponent));
}

function colour() {
  theme.value = localStorage.getItem("rag-ls.theme") ?? "";
  if (theme.value) document.documentElement.dataset.theme = theme.value;
  else delete document.documentElement.dataset.theme;
}

/** Whether somebody has written something into the view that is not kept yet. */
const isTouched = () => [...view.querySelectorAll("textarea, input")].some((field) => field.value !== field.defaultValue);

/** Show the view anew when something of it changed, but take nothing from under anybody's hands. */
function changed(name) {
  if (VIEW_OF[name] !== location.hash || refresh) return;
  refresh = setTimeout(() => {
    refresh = undefined;
    if (VIEW_OF[name] === location.hash && !isTouched() && !view.contains(document.activeElement)) show();
  }, REFRESH_MS);
}

theme.addEventListener("change", () => { localStorage.setItem("rag-ls.theme", theme.value); colour(); });
window.addEventListener("hashchange", show);
document.querySelector("a.skip").addEventListener("click", (event) => { event.preventDefault(); view.focus(); });
document.addEventListener("keydown", (event) => {
  const at = document.activeElement;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "o") (at.closest(".card") ?? document.querySelector('.card[aria-current="true"]'))?.querySelector("a.editor")?.click();
  if (event.key === "/") {
    event.preventDefault();
    if (location.hash.startsWith("#search") || !location.hash) document.getElementById("query")?.focus();
    else location.hash = "#search";
  }
});
offerEditors(document.getElementById("editor"), () => relink(view));
colour();
show();
listen(changed, new AbortController().signal);
