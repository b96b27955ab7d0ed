// One memory with its history; those that were deleted; those that say the same.
import { run } from "./api.js";
import { el, many, tell, trying } from "./dom.js";
import { about, removeMemory, tagsOf, timeOf } from "./memory_parts.js";

const PAGE = 50;
const toList = () => { location.hash = "#memories"; };
const back = () => el("a", { href: "#memories" }, "← All memories");

/** One memory, to change it and to bring former versions back. */
export async function showMemory(at, id) {
  const item = await trying(() => run("get_memory", { id, history: true }));
  if (at.signal.aborted) return;
  if (!item) return at.view.replaceChildren(back(), el("h2", {}, "There is no such memory."));
  const again = () => showMemory(at, id);
  const text = el("textarea", { rows: "6" }, item.content), tags = el("input", { value: (item.metadata.tags ?? []).join(", ") });
  const save = async (event) => {
    event.preventDefault();
    const changes = { id, content: text.value, metadata: { tags: tagsOf(tags) }, expected_version: item.version };
    if (await trying(() => run("update_memory", changes))) { tell("Saved."); again(); }
  };
  const restore = (version) => async () => { if (await trying(() => run("restore_memory", { id, version }))) { tell(`Version ${version} is back.`); again(); } };
  const history = (item.history ?? []).map((former) => el("li", {}, el("p", { class: "quiet" }, `Version ${former.version}, ${former.reason} ${timeOf(former.replaced_at)}`),
    el("p", { class: "content" }, former.content), el("button", { onclick: restore(former.version) }, `Bring version ${former.version} back`)));
  at.view.replaceChildren(back(), el("h2", {}, "Memory"), about(item, at.project),
    el("form", { onsubmit: save }, el("label", { class: "wide" }, "Text ", text), el("label", { class: "wide" }, "Tags ", tags),
      el("div", { class: "row" }, el("button", { class: "main" }, "Save"), el("button", { type: "button", onclick: () => removeMemory(id, toList) }, "Delete"))),
    el("h3", {}, history.length ? "Former versions" : "It was never changed."), el("ol", { class: "list", hidden: !history.length }, history));
}

/** What was deleted, to bring it back. */
export async function showDeleted(at) {
  const page = await trying(() => run("list_memories", { deleted: true, limit: PAGE, project: at.project?.root ?? "all" }));
  if (at.signal.aborted) return;
  const restore = (item) => async () => { if (await trying(() => run("restore_memory", { id: item.id }))) { tell("It is back."); showDeleted(at); } };
  const items = (page?.memories ?? []).map((item) => el("li", {}, el("p", { class: "content" }, item.content),
    el("div", { class: "row" }, el("button", { onclick: restore(item) }, "Bring it back"), el("span", { class: "quiet" }, `${item.reason}, ${timeOf(item.deleted_at)}`))));
  const rest = page && page.total > items.length ? `The last ${items.length} of ${page.total}.` : items.length ? "" : "Nothing was deleted.";
  at.view.replaceChildren(back(), el("h2", {}, "Deleted memories"), el("p", { hidden: !rest }, rest), el("ol", { class: "list", hidden: !items.length }, items));
}

/** What a merge would do, and what contradicts each other. */
export async function previewMerge(at, root = at.project?.root ?? "") {
  const asked = root ? { scope: "project", project: root } : { scope: "global" };
  const plan = await trying(() => run("consolidate_memories", { ...asked, dry_run: true }));
  if (!plan || at.signal.aborted) return;
  const merges = plan.merges ?? [], close = plan.proposals ?? [], against = plan.contradictions ?? [];
  const apply = async (ids = []) => {
    if (!(await trying(() => run("consolidate_memories", { ...asked, ids })))) return;
    tell("Merged; the list has a way back.");
    toList();
  };
  const where = el("select", { onchange: () => previewMerge(at, where.value) }, at.repos.map((repo) => new Option(repo.label, repo.root)), new Option("all my projects", ""));
  where.value = root;
  at.view.replaceChildren(back(), el("h2", {}, "Merge what says the same"), el("div", { class: "bar" }, el("label", {}, "Memories for ", where)),
    el("p", {}, merges.length ? `${many(merges.length, "group")} would become one memory each:` : "No two memories here have the same text."),
    el("ol", { class: "list", hidden: !merges.length }, merges.map((merge) => el("li", {}, el("p", { class: "content" }, merge.kept.content), merge.merged.map((each) => el("p", { class: "content quiet" }, `merged into it: ${each.content}`))))),
    merges.length ? el("div", { class: "row" }, el("button", { class: "main", onclick: () => apply() }, "Merge")) : "",
    close.length ? el("h3", {}, "These may say the same") : "",
    el("ol", { class: "list", hidden: !close.length }, close.map((group) => el("li", {}, group.memories.map((each) => el("p", { class: "content" }, each.content)), el("button", { onclick: () => apply(group.memories.map((each) => each.id)) }, "Make them one")))),
    against.length ? el("h3", {}, "These contradict each other") : "",
    el("ol", { class: "list", hidden: !against.length }, against.map((pair) => el("li", {}, pair.memories.map((each) => el("p", { class: "content" }, each.content)), el("p", { class: "quiet" }, pair.reason)))));
}
