// What is shown of a memory besides its text, wherever one is shown.
import { run } from "./api.js";
import { el, tell, trying } from "./dom.js";
import { editorLink } from "./editors.js";

const SCOPES = { global: "all my projects", project: "this project", session: "this session" };
const STATES = { fresh: "", drifted: "that code has changed since", orphaned: "that code is gone" };

/** What is known of a memory; its place in the code opens in the editor. */
export function about(item, project) {
  const facts = [`for ${SCOPES[item.scope] ?? item.scope}`, item.memory_type, new Date(item.updated_at).toLocaleDateString("en-CA"), ...item.metadata.tags ?? []].filter(Boolean).join(" · ");
  return el("p", { class: "quiet" }, facts, ...place(item.anchor, project));
}

function place(anchor, project) {
  if (!anchor) return [];
  const words = `${anchor.path}${anchor.line ? `:${anchor.line}` : ""}${anchor.symbol ? ` ${anchor.symbol}` : ""}`;
  const root = anchor.project || project?.root;
  const state = STATES[anchor.state] ?? anchor.state;
  return [" · about ", root && anchor.state !== "orphaned" ? editorLink(`${root}/${anchor.path}`, anchor.line ?? 1, words) : words, state && el("span", { class: "bad" }, ` (${state})`)];
}

/** A time as people say it: today's by the clock, others by the day. */
export function timeOf(stamp) {
  const at = new Date(stamp), clock = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return at.toDateString() === new Date().toDateString() ? clock : `${at.toLocaleDateString("en-CA")} ${clock}`;
}

/** Delete a memory and offer the way back; `changed` is called after each. */
export async function removeMemory(id, changed) {
  const done = await trying(() => run("delete_memories", { ids: [id] }));
  if (!done) return;
  changed();
  tell("Deleted.", { name: "Undo", run: async () => { await trying(() => run("undo", { id: done.changes.undo })); changed(); } });
}

/** The tags in a field, which commas part. */
export const tagsOf = (field) => field.value.split(",").map((tag) => tag.trim()).filter(Boolean);
