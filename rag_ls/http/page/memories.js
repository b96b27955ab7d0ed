// Memories to read, write, merge and take back.
import { run } from "./api.js";
import { el, tell, trying } from "./dom.js";

const MERGE = "merge";

export async function showMemories(view, id) {
  if (id === MERGE) return previewMerge(view);
  if (id) return showMemory(view, id);
  const [page, repos] = await Promise.all([trying(() => run("list_memories", { limit: 100 })), projects()]);
  const again = () => showMemories(view);
  const items = (page?.memories ?? []).map((item) => el("li", {}, card(item, again)));
  view.replaceChildren(el("h2", {}, "Memories"), writing(repos, again),
    el("div", { class: "bar" }, el("span", { class: "quiet" }, page ? `${page.total} ${page.total === 1 ? "memory" : "memories"}` : ""),
      el("a", { href: `#memories/${MERGE}` }, "Merge what says the same ..."),
      el("button", { onclick: () => undo(again) }, "Undo the last change of many")),
    items.length ? el("ol", { class: "list" }, items) : el("p", {}, "Nothing is remembered yet: write the first one above, or let your agent do it."));
}

function writing(repos, again) {
  const text = el("textarea", { rows: "3", required: true });
  const tags = el("input", {});
  const where = el("select", {}, places(repos));
  const store = async (event) => {
    event.preventDefault();
    const asked = { content: text.value, scope: where.value ? "project" : "global", metadata: { tags: tags.value.split(",").map((tag) => tag.trim()).filter(Boolean) } };
    const done = await trying(() => run("store_memory", where.value ? { ...asked, project: where.value } : asked));
    if (done) { tell(done.status === "duplicate" ? "That was known already." : "Kept."); again(); }
  };
  return el("form", { class: "bar", onsubmit: store }, el("label", { class: "wide" }, "What to remember ", text),
    el("label", {}, "Tags ", tags), el("label", {}, "In ", where), el("button", {}, "Remember"));
}

const projects = async () => ((await trying(() => run("list_repos")))?.repos ?? []).filter((repo) => !repo.missing);

const places = (repos) => [new Option("all my projects", ""), ...repos.map((repo) => new Option(repo.name, repo.root))];

const about = (item) => [item.scope, item.memory_type, item.updated_at.slice(0, 10), ...item.metadata.tags ?? [],
  item.anchor ? `about ${item.anchor.path}${item.anchor.line ? `:${item.anchor.line}` : ""} (${item.anchor.state})` : ""].filter(Boolean).join(" · ");

function card(item, again) {
  return el("article", { class: "card" }, el("p", { class: "content" }, item.content), el("div", { class: "quiet" }, about(item)),
    el("div", { class: "row" }, el("a", { href: `#memories/${item.id}` }, "Edit and history"), el("button", { onclick: () => remove(item, again) }, "Delete")));
}

async function remove(item, again) {
  if (!(await trying(() => run("delete_memory", { id: item.id })))) return;
  again();
  tell("Deleted.", { name: "Undo", run: async () => { await trying(() => run("restore_memory", { id: item.id })); again(); } });
}

async function showMemory(view, id) {
  const item = await trying(() => run("get_memory", { id, history: true }));
  if (!item) return view.replaceChildren(el("h2", {}, "Memory"), el("p", {}, "There is no such memory. "), el("a", { href: "#memories" }, "All memories"));
  const again = () => showMemory(view, id);
  const text = el("textarea", { rows: "6" }, item.content);
  const save = async (event) => {
    event.preventDefault();
    if (await trying(() => run("update_memory", { id, content: text.value, expected_version: item.version }))) { tell("Saved."); again(); }
  };
  const restore = (version) => async () => { if (await trying(() => run("restore_memory", { id, version }))) { tell(`Version ${version} is back.`); again(); } };
  const history = (item.history ?? []).map((former) => el("li", {}, el("article", { class: "card" }, el("div", { class: "quiet" }, `Version ${former.version}, ${former.reason} ${former.replaced_at.slice(0, 16)}`),
    el("p", { class: "content" }, former.content), el("button", { onclick: restore(former.version) }, `Bring version ${former.version} back`))));
  view.replaceChildren(el("h2", {}, "Memory"), el("p", { class: "quiet" }, about(item)),
    el("form", { onsubmit: save }, el("label", { class: "wide" }, "Text ", text), el("div", { class: "row" }, el("button", {}, "Save"), el("a", { href: "#memories" }, "All memories"))),
    el("h3", {}, history.length ? "Former versions" : "It was never changed."), el("ol", { class: "list" }, history));
}

async function previewMerge(view, root = "") {
  const asked = root ? { scope: "project", project: root } : { scope: "global" };
  const [plan, repos] = await Promise.all([trying(() => run("consolidate_memories", { ...asked, dry_run: true })), projects()]);
  if (!plan) return;
  const again = () => { location.hash = "#memories"; };
  const merges = plan.merges ?? [], against = plan.contradictions ?? [];
  const apply = async () => {
    const done = await trying(() => run("consolidate_memories", asked));
    if (done) { again(); tell(`Merged ${merges.length}.`, { name: "Undo", run: () => undo(() => showMemories(view)) }); }
  };
  const where = el("select", { onchange: () => previewMerge(view, where.value) }, places(repos));
  where.value = root;
  view.replaceChildren(el("h2", {}, "Merge what says the same"), el("div", { class: "bar" }, el("label", {}, "Memories of ", where)), el("p", {}, merges.length ? "These would become one each:" : "No two memories here say the same."),
    el("ol", { class: "list" }, merges.map((merge) => el("li", { class: "card" }, el("p", { class: "content" }, merge.kept.content), merge.merged.map((each) => el("p", { class: "content quiet" }, `+ ${each.content}`))))),
    against.length ? el("h3", {}, "These contradict each other") : "",
    el("ol", { class: "list" }, against.map((pair) => el("li", { class: "card" }, pair.memories.map((each) => el("p", { class: "content" }, each.content)), el("div", { class: "quiet" }, pair.reason)))),
    el("div", { class: "row" }, merges.length ? el("button", { onclick: apply }, "Merge") : "", el("button", { onclick: again }, "Back")));
}

async function undo(again) {
  const done = await trying(() => run("undo"));
  if (done) { tell(`Taken back: ${done.kind} of ${done.at.slice(0, 16)}.`); again(); }
}
