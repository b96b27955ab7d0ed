// What is shown of a memory, wherever one is shown.
import { run } from "./api.js";
import { el, trying } from "./dom.js";
import { editorLink } from "./editors.js";

/** The projects whose folders are there. */
export const allProjects = async () => ((await trying(() => run("list_repos")))?.repos ?? []).filter((repo) => !repo.missing);

/** What is known of a memory besides its text; its place in the code opens in the editor. */
export function about(item, repos) {
  const facts = [item.scope, item.memory_type, item.updated_at.slice(0, 10), ...item.metadata.tags ?? []].filter(Boolean).join(" · ");
  return el("div", { class: "quiet" }, facts, ...place(item.anchor, repos));
}

function place(anchor, repos) {
  if (!anchor) return [];
  const line = anchor.line ?? 1;
  const words = `${anchor.path}${anchor.line ? `:${anchor.line}` : ""}${anchor.symbol ? ` ${anchor.symbol}` : ""}`;
  const root = anchor.project || (repos.length === 1 ? repos[0].root : "");
  return [" · about ", root && anchor.state !== "orphaned" ? editorLink(`${root}/${anchor.path}`, line, words) : words, el("span", { class: anchor.state === "fresh" ? undefined : "bad" }, ` (${anchor.state})`)];
}
