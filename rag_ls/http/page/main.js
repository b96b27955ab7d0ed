// Which view is shown, of which project, in which colours.
import { readAddress } from "./address.js";
import { listen } from "./api.js";
import { offerEditors, relink } from "./editors.js";
import { showMemories } from "./memories.js";
import { allProjects, meantProject, noteProject } from "./projects.js";
import { showSearch } from "./search.js";
import { showStatus } from "./status.js";

const view = document.getElementById("view");
const theme = document.getElementById("theme");
const project = document.getElementById("project");
const VIEWS = { search: showSearch, memories: showMemories, status: showStatus };
const REFRESH_MS = 500;
let shown = new AbortController();
let refresh;

async function show() {
  const { view: name } = readAddress();
  shown.abort();
  const { signal } = shown = new AbortController();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `rag-ls: ${name}`;
  const repos = await allProjects();
  if (signal.aborted) return;
  const meant = meantProject(repos, project), { parts, values } = readAddress();
  view.className = name;
  (VIEWS[name] ?? showSearch)({ view, signal, parts, values, repos, project: meant });
}

function colour() {
  theme.value = localStorage.getItem("rag-ls.theme") ?? "";
  if (theme.value) document.documentElement.dataset.theme = theme.value;
  else delete document.documentElement.dataset.theme;
}

/** Whether somebody has written something into the view that is not kept yet. */
const isTouched = () => [...view.querySelectorAll("textarea, input")].some((field) => field.value !== field.defaultValue);

/** Show the memories anew when one of them changed, but take nothing from under anybody's hands. */
function changed(event) {
  const isShown = () => event === "memory_changed" && readAddress().view === "memories" && !readAddress().parts.length;
  if (!isShown() || refresh) return;
  refresh = setTimeout(() => {
    refresh = undefined;
    if (isShown() && !isTouched() && !view.contains(document.activeElement)) show();
  }, REFRESH_MS);
}

theme.addEventListener("change", () => { localStorage.setItem("rag-ls.theme", theme.value); colour(); });
project.addEventListener("change", () => { noteProject(project.value); show(); });
window.addEventListener("hashchange", show);
document.querySelector("a.skip").addEventListener("click", (event) => { event.preventDefault(); view.focus(); });
document.addEventListener("keydown", (event) => {
  const at = document.activeElement;
  if (event.key !== "/" || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const query = document.getElementById("query");
  if (query) query.select();
  else location.hash = "#search";
});
offerEditors(document.getElementById("editor"), () => relink(view));
colour();
show();
listen(changed, new AbortController().signal);
