// The list of memories: one line each until it is opened; to write, delete and take back.
import { noteInAddress } from "./address.js";
import { run } from "./api.js";
import { el, many, tell, trying } from "./dom.js";
import { previewMerge, showDeleted, showMemory } from "./memory_pages.js";
import { about, removeMemory, tagsOf, timeOf } from "./memory_parts.js";

const PAGE = 50;
const PAGES = { merge: previewMerge, deleted: showDeleted };
// What became of the memories of a change that can be taken back.
const CHANGES = { consolidated: "merged", deleted: "deleted", imported: "imported", restored: "brought back from a backup", summarized: "summarised" };

export function showMemories(at) {
  const [part] = at.parts;
  if (!part) return new MemoryList(at).show();
  return PAGES[part] ? PAGES[part](at) : showMemory(at, part);
}

class MemoryList {
  constructor({ view, signal, values, project }) {
    Object.assign(this, { view, signal, project });
    this.items = el("ol", { class: "list" });
    this.more = el("div", { class: "row" });
    this.count = el("span", { class: "quiet", role: "status" });
    this.undo = el("span", {});
    const own = project ? project.label : "each project";
    this.scope = el("select", { onchange: () => this.choose() }, new Option(`${own} and all my projects`, ""), new Option(`${own} alone`, "project"), new Option("all my projects", "global"));
    this.scope.value = values.get("scope") ?? "";
  }

  async show() {
    this.view.replaceChildren(el("h2", {}, "Memories"), this.writing(),
      el("div", { class: "bar" }, el("label", {}, "For ", this.scope), this.count, el("a", { href: "#memories/merge" }, "Merge what says the same"), el("a", { href: "#memories/deleted" }, "Deleted ones"), this.undo),
      this.items, this.more);
    await this.load(0);
  }

  choose() {
    noteInAddress({ scope: this.scope.value });
    this.load(0);
  }

  async load(offset) {
    const round = this.round = (this.round ?? 0) + 1;
    const asked = { scope: this.scope.value || "all", project: this.project?.root ?? "all", limit: PAGE, offset };
    const [page, change] = await Promise.all([trying(() => run("list_memories", asked)), run("last_change", this.project ? { project: this.project.root } : {}).catch(() => undefined)]);
    // A later look has been asked for meanwhile.
    if (!page || this.signal.aborted || round !== this.round) return;
    const rows = page.memories.map((item) => el("li", {}, this.row(item)));
    if (offset) this.items.append(...rows);
    else this.items.replaceChildren(...rows);
    this.count.replaceChildren(many(page.total, "memory"));
    this.more.replaceChildren(...page.next_offset ? [el("button", { onclick: () => this.load(page.next_offset) }, "Show more")] : []);
    if (!page.total) this.items.replaceChildren(el("li", { class: "empty" }, "Nothing is remembered here yet: write the first one above, or let your agent do it."));
    this.undo.replaceChildren(...change?.id ? [el("button", { onclick: () => this.takeBack(change) }, `Undo: ${wordsOf(change)}`)] : []);
  }

  row(item) {
    const [title, ...rest] = item.content.trim().split("\n");
    const tags = (item.metadata.tags ?? []).slice(0, 3).map((tag) => el("span", { class: "tag" }, tag));
    const marks = [item.scope === "global" && this.project ? el("span", { class: "tag" }, "all projects") : "", item.anchor && !["fresh", "unknown"].includes(item.anchor.state) ? el("span", { class: "tag bad" }, item.anchor.state) : ""];
    return el("details", {}, el("summary", { class: "head" }, el("span", { class: "label" }, title), marks, tags, el("time", { class: "quiet", datetime: item.updated_at }, new Date(item.updated_at).toLocaleDateString("en-CA"))),
      rest.length ? el("p", { class: "content" }, rest.join("\n").trim()) : "", about(item, this.project),
      el("div", { class: "row" }, el("a", { href: `#memories/${item.id}` }, "Edit, history"), el("button", { onclick: () => removeMemory(item.id, () => this.load(0)) }, "Delete")));
  }

  async takeBack(change) {
    const would = await trying(() => run("undo", { id: change.id, dry_run: true }));
    if (!would) return;
    const words = [["inserted", "come back"], ["replaced", "change"], ["deleted", "go"]].filter(([key]) => would.changes[key]).map(([key, word]) => `${many(would.changes[key], "memory")} would ${word}`);
    tell(`${would.project || "All my projects"}: ${words.join(", ") || "nothing is left to take back"}.`, { name: "Take it back", run: () => this.takenBack(change) });
  }

  async takenBack(change) {
    const done = await trying(() => run("undo", { id: change.id }));
    if (!done) return;
    const { inserted, replaced, deleted } = done.changes;
    tell(inserted + replaced + deleted ? `Taken back: ${wordsOf(change)}.` : "Nothing is left to take back of it: those memories were changed since.");
    this.load(0);
  }

  writing() {
    const text = el("textarea", { rows: "3", required: true }), tags = el("input", { placeholder: "a, b" });
    const file = el("input", { placeholder: "src/pay.py" }), line = el("input", { type: "number", min: "1", class: "short" });
    const place = el("span", { class: "group", hidden: !this.project }, el("label", {}, "About the file ", file), el("label", {}, "at line ", line));
    const where = el("select", { onchange: () => { place.hidden = !where.value; } }, this.project ? new Option(this.project.label, this.project.root) : "", new Option("all my projects", ""));
    const store = async (event) => {
      event.preventDefault();
      const about = where.value && file.value.trim() ? { source_file: file.value.trim(), ...line.value ? { line: Number(line.value) } : {} } : {};
      const kept = { content: text.value, scope: where.value ? "project" : "global", metadata: { tags: tagsOf(tags), ...about } };
      const done = await trying(() => run("store_memory", where.value ? { ...kept, project: where.value } : kept));
      if (!done) return;
      tell(done.status === "duplicate" ? "That was known already." : "Kept.");
      for (const field of [text, tags, file, line]) field.value = "";
      this.load(0);
    };
    return el("details", { class: "writing" }, el("summary", {}, "Remember something"), el("form", { onsubmit: store }, el("label", { class: "wide" }, "What to remember ", text),
      el("div", { class: "bar" }, el("label", {}, "For ", where), place, el("label", {}, "Tags ", tags), el("button", { class: "main" }, "Remember"))));
  }
}

/** A change of many memories: "3 memories merged, 10:42". */
const wordsOf = ({ kind, memories, at }) => `${many(memories, "memory")} ${CHANGES[kind] ?? kind}, ${timeOf(at)}`;
