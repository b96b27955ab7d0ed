// Which project the views show: it stands in the address; else it is the tab's last one, else the one that was opened last.
import { noteInAddress, readAddress } from "./address.js";
import { run } from "./api.js";
import { trying } from "./dom.js";

const KEY = "rag-ls.project", ALL = "all";

/** The projects whose folders are there, each with the `label` that names it alone. */
export async function allProjects() {
  const repos = ((await trying(() => run("list_repos")))?.repos ?? []).filter((repo) => !repo.missing);
  const count = (name) => repos.filter((repo) => repo.name === name).length;
  return repos.map((repo) => ({ ...repo, label: count(repo.name) > 1 ? repo.root : repo.name }));
}

/** The project that is meant, noted in the address and offered in the choice; undefined for all of them. */
export function meantProject(repos, select) {
  const wanted = readAddress().values.get("project") ?? sessionStorage.getItem(KEY);
  const latest = [...repos].sort((one, other) => (other.last_opened ?? "").localeCompare(one.last_opened ?? ""))[0];
  const meant = wanted === ALL ? undefined : repos.find(({ label, root }) => wanted === label || wanted === root) ?? latest;
  select.replaceChildren(...repos.map(({ label }) => new Option(label, label)), new Option("All projects", ALL));
  select.value = meant?.label ?? ALL;
  noteProject(select.value);
  return meant;
}

/** Have the views show another project from now on. */
export function noteProject(label) {
  sessionStorage.setItem(KEY, label);
  noteInAddress({ project: label });
}
