// Projects: how far each is indexed, what is left out and why.
import { run } from "./api.js";
import { el, tell, trying } from "./dom.js";

// So many skipped files are told at most.
const MOST = 200;
const opened = new Set();

export async function showProjects(view, signal) {
  const repos = (await trying(() => run("list_repos")))?.repos ?? [];
  if (signal.aborted) return;
  const cards = repos.map((repo) => card(repo));
  view.replaceChildren(el("h2", {}, "Projects"), cards.length ? el("ol", { class: "list" }, cards) : el("p", {}, "No project is known yet: run `rag-ls index` in a project's folder."));
}

function card(repo) {
  const files = el("div", {});
  const toggled = () => {
    if (!toggle.open) return opened.delete(repo.root);
    opened.add(repo.root);
    showSkipped(repo, files);
  };
  const toggle = el("details", { open: opened.has(repo.root), ontoggle: toggled }, el("summary", {}, "Skipped files and how it stands"), files);
  const again = async () => { if (await trying(() => run("reindex", { project: [repo.root] }))) tell(`${repo.name} is compared with its files.`); };
  const stand = `${repo.documents} documents, ${repo.chunks} chunks, ${repo.complete ? "complete" : "not complete yet"}${repo.branch ? `, on ${repo.branch}` : ""}`;
  return el("li", { class: "card" }, el("h3", {}, repo.name), el("div", { class: "quiet" }, repo.root),
    el("div", {}, repo.missing ? el("span", { class: "bad" }, "Its folder is gone.") : stand),
    repo.missing ? "" : toggle, repo.missing ? "" : el("div", { class: "row" }, el("button", { onclick: again }, "Compare with the files")));
}

async function showSkipped(repo, files) {
  const status = (await trying(() => run("index_status", { skipped: true, project: [repo.root] })))?.projects?.[0];
  if (!status) return;
  const done = status.indexed_percent, skipped = status.skipped_files ?? [];
  files.replaceChildren(el("p", {}, `${status.activity}; found by words ${done.words} %, by meaning ${done.vectors} %; ${status.unsaved_buffers} unsaved documents`),
    el("progress", { max: "100", value: String(done.vectors), "aria-label": `${repo.name}: found by meaning` }),
    skipped.length ? el("ul", {}, skipped.map((file) => el("li", {}, file.path, el("span", { class: "quiet" }, ` ${file.reason}`)))) : el("p", { class: "quiet" }, "Nothing is skipped."),
    skipped.length >= MOST ? el("p", { class: "quiet" }, `These are the first ${MOST}; \`rag-ls status\` counts all by reason.`) : "");
}
