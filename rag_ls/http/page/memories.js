// Memories to read, write, merge and take back.
import { run } from "./api.js";
import { el, tell, trying } from "./dom.js";
import { about, allProjects } from "./memory_parts.js";

const MERGE = "merge", DELETED = "deleted", PAGE = 50, GLOBAL = "global";
// What the list shows, kept while another view is open.
let shownOf = "";

export async function showMemories(view, signal, [id]) {
  const at = { view, signal, repos: await allProjects() };
  if (signal.aborted) return;
  if (id === MERGE) return previewMerge(at);
  if (id === DELETED) return showDeleted(at);
  if (id) return showMemory(at, id);
  return showList(at);
}

async function showList(at) {
  const items = el("ol", { class: "list" }), more = el("div", { class: "row" }), count = el("span", { class: "quiet", role: "status" });
  const again = () => load(0);

  async function load(offset) {
    const page = await trying(() => run("list_memories", { ...asked(shownOf), limit: PAGE, offset }));
    if (!page || at.signal.aborted) return;
    const cards = page.memories.map((item) => el("li", {}, card(item, at, again)));
    if (offset) items.append(...cards);
    else items.replaceChildren(...cards);
    count.replaceChildren(`${page.total} ${page.total === 1 ? "memory" : "memories"}`);
    more.replaceChildren(...page.next_offset ? [el("button", { onclick: () => load(page.next_offset) }, "Show more")] : []);
    if (!page.total) items.replaceChildren(el("li", {}, "Nothing is remembered here yet: write the first one above, or let your agent do it."));
  }

  const of = el("select", { onchange: () => { shownOf = of.value; again(); } }, new Option("everywhere", ""), new Option("all my projects", GLOBAL), at.repos.map((repo) => new Option(repo.name, repo.root)));
  of.value = shownOf;
  at.view.replaceChildren(el("h2", {}, "Memories"), writing(at, again),
    el("div", { class: "bar" }, el("label", {}, "Remembered ", of), count, el("a", { href: `#memories/${MERGE}` }, "Merge what says the same ..."),
      el("a", { href: `#memories/${DELETED}` }, "Deleted ones ..."), el("button", { onclick: () => undo({}, again) }, "Undo the last change of many")),
    items, more);
  await load(0);
}

const asked = (of) => (of === GLOBAL ? { scope: "global" } : of ? { project: of } : {});

const tagsOf = (field) => field.value.split(",").map((tag) => tag.trim()).filter(Boolean);

function writing(at, again) {
  const text = el("textarea", { rows: "3", required: true });
  const tags = el("input", {}), file = el("input", { placeholder: "src/pay.py" }), line = el("input", { type: "number", min: "1", class: "short" });
  const where = el("select", { onchange: () => { place.hidden = !where.value; } }, places(at.repos));
  const place = el("span", { class: "row", hidden: true }, el("label", {}, "About the file ", file), el("label", {}, "at line ", line));
  const store = async (event) => {
    event.preventDefault();
    const metadata = { tags: tagsOf(tags), ...where.value && file.value.trim() ? { source_file: file.value.trim(), ...line.value ? { line: Number(line.value) } : {} } : {} };
    const kept = { content: text.value, scope: where.value ? "project" : "global", metadata };
    const done = await trying(() => run("store_memory", where.value ? { ...kept, project: where.value } : kept));
    if (!done) return;
    tell(done.status === "duplicate" ? "That was known already." : "Kept.");
    for (const field of [text, tags, file, line]) field.value = "";
    again();
  };
  return el("form", { class: "bar", onsubmit: store }, el("label", { class: "wide" }, "What to remember ", text),
    el("label", {}, "Tags ", tags), el("label", {}, "In ", where), place, el("button", {}, "Remember"));
}

const places = (repos) => [new Option("all my projects", ""), ...repos.map((repo) => new Option(repo.name, repo.root))];

function card(item, at, again) {
  return el("article", { class: "card" }, el("p", { class: "content" }, item.content), about(item, at.repos),
    el("div", { class: "row" }, el("a", { href: `#memories/${item.id}` }, "Edit and history"), el("button", { onclick: () => remove(item, again) }, "Delete")));
}

async function remove(item, again) {
  if (!(await trying(() => run("delete_memory", { id: item.id })))) return;
  again();
  tell("Deleted.", { name: "Undo", run: async () => { await trying(() => run("restore_memory", { id: item.id })); again(); } });
}

async function showMemory(at, id) {
  const item = await trying(() => run("get_memory", { id, history: true }));
  if (at.signal.aborted) return;
  const list = el("a", { href: "#memories" }, "All memories");
  if (!item) return at.view.replaceChildren(el("h2", {}, "Memory"), el("p", {}, "There is no such memory. "), list);
  const again = () => showMemory(at, id);
  const text = el("textarea", { rows: "6" }, item.content), tags = el("input", { value: (item.metadata.tags ?? []).join(", ") });
  const save = async (event) => {
    event.preventDefault();
    const changes = { id, content: text.value, metadata: { tags: tagsOf(tags) }, expected_version: item.version };
    if (await trying(() => run("update_memory", changes))) { tell("Saved."); again(); }
  };
  const restore = (version) => async () => { if (await trying(() => run("restore_memory", { id, version }))) { tell(`Version ${version} is back.`); again(); } };
  const history = (item.history ?? []).map((former) => el("li", {}, el("article", { class: "card" }, el("div", { class: "quiet" }, `Version ${former.version}, ${former.reason} ${former.replaced_at.slice(0, 16)}`),
    el("p", { class: "content" }, former.content), el("button", { onclick: restore(former.version) }, `Bring version ${former.version} back`))));
  const gone = () => { location.hash = "#memories"; };
  at.view.replaceChildren(el("h2", {}, "Memory"), about(item, at.repos),
    el("form", { onsubmit: save }, el("label", { class: "wide" }, "Text ", text), el("label", { class: "wide" }, "Tags ", tags),
      el("div", { class: "row" }, el("button", {}, "Save"), el("button", { type: "button", onclick: () => remove(item, gone) }, "Delete"), list)),
    el("h3", {}, history.length ? "Former versions" : "It was never changed."), el("ol", { class: "list" }, history));
}

async function showDeleted(at) {
  const page = await trying(() => run("list_memories", { deleted: true, limit: PAGE }));
  if (at.signal.aborted) return;
  const restore = (item) => async () => { if (await trying(() => run("restore_memory", { id: item.id }))) { tell("It is back."); showDeleted(at); } };
  const items = (page?.memories ?? []).map((item) => el("li", {}, el("article", { class: "card" }, el("p", { class: "content" }, item.content),
    el("div", { class: "quiet" }, `${item.scope} · ${item.reason} ${item.deleted_at.slice(0, 16)}`), el("div", { class: "row" }, el("button", { onclick: restore(item) }, "Bring it back")))));
  const rest = page && page.total > items.length ? `The last ${items.length} of ${page.total}.` : items.length ? "" : "Nothing was deleted.";
  at.view.replaceChildren(el("h2", {}, "Deleted memories"), el("p", {}, rest, " ", el("a", { href: "#memories" }, "All memories")), el("ol", { class: "list" }, items));
}

async function previewMerge(at, root = "") {
  const asked = root ? { scope: "project", project: root } : { scope: "global" };
  const plan = await trying(() => run("consolidate_memories", { ...asked, dry_run: true }));
  if (!plan || at.signal.aborted) return;
  const again = () => { location.hash = "#memories"; };
  const merges = plan.merges ?? [], against = plan.contradictions ?? [];
  const apply = async () => {
    const done = await trying(() => run("consolidate_memories", asked));
    if (!done) return;
    again();
    // It is taken back by its id: something else may have changed many memories meanwhile.
    const [batch] = Object.values(done.undo ?? {});
    tell(`Merged ${merges.length}.`, batch && { name: "Undo", run: () => undo({ id: batch }, () => location.hash === "#memories" && showList({ ...at, signal: new AbortController().signal })) });
  };
  const where = el("select", { onchange: () => previewMerge(at, where.value) }, places(at.repos));
  where.value = root;
  at.view.replaceChildren(el("h2", {}, "Merge what says the same"), el("div", { class: "bar" }, el("label", {}, "Memories of ", where)), el("p", {}, merges.length ? "These would become one each:" : "No two memories here say the same."),
    el("ol", { class: "list" }, merges.map((merge) => el("li", { class: "card" }, el("p", { class: "content" }, merge.kept.content), merge.merged.map((each) => el("p", { class: "content quiet" }, `+ ${each.content}`))))),
    against.length ? el("h3", {}, "These contradict each other") : "",
    el("ol", { class: "list" }, against.map((pair) => el("li", { class: "card" }, pair.memories.map((each) => el("p", { class: "content" }, each.content)), el("div", { class: "quiet" }, pair.reason)))),
    el("div", { class: "row" }, merges.length ? el("button", { onclick: apply }, "Merge") : "", el("button", { onclick: again }, "Back")));
}

async function undo(which, again) {
  const done = await trying(() => run("undo", which));
  if (done) { tell(`Taken back: ${done.kind} of ${done.at.slice(0, 16)}.`); again(); }
}
