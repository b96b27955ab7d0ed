// How everything stands: is all indexed, what goes on, what is wrong, what it costs, who is connected.
import { run } from "./api.js";
import { el, many, tell, trying } from "./dom.js";
import { timeOf } from "./memory_parts.js";

const EVERY_MS = 2000;
// The sizes of indexes are counted less often.
const REPOS_EVERY = 5;
const MAX_SKIPPED = 200;
const SURFACES = { lsp: "editor", mcp: "agent", cli: "shell", http: "program" };

export async function showStatus({ view, signal }) {
  const page = new StatusPage(view, signal);
  for (let round = 0; !signal.aborted; round += 1) {
    await page.look(round % REPOS_EVERY === 0);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

class StatusPage {
  constructor(view, signal) {
    this.signal = signal;
    this.repos = { repos: [] };
    this.rows = new Map();
    this.parts = { verdict: el("div", { class: "verdict", role: "status" }), problems: el("ul", { class: "problems" }), costs: el("dl", { class: "figures" }), clients: el("ul", { class: "plain" }), latencies: el("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Latencies" }), engine: el("p", { class: "quiet" }) };
    this.projects = el("ol", { class: "list" });
    const { verdict, problems, costs, clients, latencies, engine } = this.parts;
    view.replaceChildren(el("h2", { class: "spoken" }, "Status"), verdict, problems, el("h3", {}, "What it costs"), costs, el("h3", {}, "Projects"), this.projects,
      el("h3", {}, "Who is connected"), clients, el("details", { class: "latencies" }, el("summary", {}, "Latencies"), latencies), engine);
  }

  async look(with_repos) {
    const [status, repos] = await Promise.all([trying(() => run("engine_status", { open_only: true }, { signal: this.signal })), with_repos ? trying(() => run("list_repos", {}, { signal: this.signal })) : undefined]);
    if (this.signal.aborted) return;
    this.repos = repos ?? this.repos;
    if (!status) return this.put("verdict", verdict("bad", "The engine does not answer.", "It is asked again in a moment; `rag-ls open` in a terminal starts it."));
    const projects = this.known(status.projects);
    this.put("verdict", verdictOf(projects));
    this.put("problems", problemsOf(projects, this.repos.problems ?? []).map((text) => el("li", {}, text)));
    this.put("costs", this.costs(status.engine));
    this.put("clients", clientRows(status.engine.clients ?? []));
    this.put("latencies", [latencyTable(status.engine.latency ?? {})]);
    const { version, pid, log, uptime_s } = status.engine;
    this.put("engine", [`rag-ls ${version}, process ${pid}, up for ${duration(uptime_s)}${log ? `; its log is ${log}` : ""}`]);
    this.showProjects(projects);
  }

  /** Change a part only where it says something else, so that what somebody reads or has chosen stays. */
  put(name, children) {
    const made = el("div", {}, children);
    if (made.textContent !== this.parts[name].textContent) this.parts[name].replaceChildren(...made.childNodes);
  }

  /** All projects, the open ones as they are now. */
  known(open) {
    return this.repos.repos.map((repo) => ({ ...repo, ...open.find((each) => each.root === repo.root) }));
  }

  costs({ memory_bytes, processor_s }) {
    const former = this.former, now = { at: performance.now(), processor_s };
    this.former = now;
    const share = former && processor_s !== undefined ? Math.max(0, Math.round((1e5 * (processor_s - former.processor_s)) / (now.at - former.at))) : undefined;
    return [figure("Memory", megabytes(memory_bytes ?? 0), "with its helpers"), figure("Disk", megabytes(this.repos.repos.reduce((sum, repo) => sum + repo.bytes, 0)), `for ${many(this.repos.repos.length, "index").replace("indexs", "indexes")}`),
      figure("Processor", share === undefined ? "..." : `${share} %`, processor_s === undefined ? "of one core" : `of one core now; ${duration(processor_s)} since it started`)];
  }

  showProjects(projects) {
    for (const project of projects) {
      const row = this.rows.get(project.root) ?? new ProjectRow(project);
      if (!this.rows.has(project.root)) this.projects.append(row.element);
      this.rows.set(project.root, row);
      row.tell(project);
    }
    for (const [root, row] of this.rows) if (!projects.some((project) => project.root === root)) { row.element.remove(); this.rows.delete(root); }
  }
}

class ProjectRow {
  constructor({ root, name }) {
    Object.assign(this, { root, name });
    this.stand = el("span", { class: "quiet" });
    this.bar = el("progress", { max: "100", "aria-label": `${name}: found by meaning` });
    this.files = el("div", {});
    const compare = async () => { if (await trying(() => run("reindex", { project: [root] }))) tell(`${name} is compared with its files.`); };
    this.details = el("details", { ontoggle: () => { if (this.details.open) this.showSkipped(); } },
      el("summary", { class: "head" }, el("span", { class: "label" }, name), this.stand), el("p", { class: "quiet" }, root), this.files, el("div", { class: "row" }, el("button", { onclick: compare }, "Compare with the files")));
    this.element = el("li", {}, this.details, this.bar);
  }

  tell(project) {
    this.stand.replaceChildren(standOf(project));
    const done = project.indexed_percent?.vectors ?? 100;
    this.bar.value = done;
    this.bar.hidden = done >= 100 || project.missing;
  }

  async showSkipped() {
    const status = (await trying(() => run("index_status", { skipped: true, project: [this.root] })))?.projects?.[0];
    if (!status) return;
    const skipped = status.skipped_files ?? [], total = Object.values(status.skipped).reduce((sum, count) => sum + count, 0);
    this.files.replaceChildren(el("p", { class: "quiet" }, `${status.last_sync ? `Compared with its files at ${timeOf(status.last_sync)}` : "Not compared with its files yet"}; model ${status.model || "none"}.`),
      el("p", {}, skipped.length ? `${many(Math.max(total, skipped.length), "file")} skipped${skipped.length >= MAX_SKIPPED ? `; the first ${MAX_SKIPPED}` : ""}:` : "Nothing is skipped."),
      el("ul", {}, skipped.map((file) => el("li", {}, file.path, el("span", { class: "quiet" }, ` · ${file.reason}`)))));
  }
}

const verdict = (kind, title, text) => [el("span", { class: `dot ${kind}`, "aria-hidden": "true" }), el("div", {}, el("strong", {}, title), el("p", { class: "quiet" }, text))];

/** Whether everything is indexed; else what is missing and what goes on. */
function verdictOf(all) {
  const projects = all.filter((project) => !project.missing), left = projects.filter((project) => !project.complete);
  const files = projects.reduce((sum, project) => sum + project.documents, 0);
  if (!projects.length) return verdict("busy", "No project is indexed yet.", "Run `rag-ls index` in a project's folder, or open it in your editor.");
  if (!left.length) return verdict("good", "Everything is indexed.", `${many(files, "file")} in ${many(projects.length, "project")}.`);
  const words = left.map((project) => `${project.name}: ${project.indexed_percent ? `${doing(project)}; ${project.indexed_percent.words} % is found by words${project.model ? `, ${project.indexed_percent.vectors} % by meaning` : ""}` : "goes on when it is opened or asked"}`);
  return verdict("busy", left.length === 1 ? "One project is not indexed completely yet." : `${left.length} projects are not indexed completely yet.`, `${words.join(". ")}.`);
}

const doing = ({ activity, queued_documents, pending_embeddings }) => (activity === "idle" && queued_documents + pending_embeddings > 0 ? "waits" : activity);

/** What is wrong, each with what to do. */
function problemsOf(projects, others) {
  const gone = projects.filter((project) => project.missing).map(({ name, root }) => `${name}: its folder ${root} is gone. Bring it back, or run \`rag-ls project remove ${name}\`.`);
  const noted = [...Map.groupBy(projects.filter((project) => project.note && !project.missing), ({ note }) => note)].map(([note, same]) => `${namesOf(same)}: ${note}`);
  const waiting = projects.filter((project) => project.model && project.model_ready === false);
  const modelless = waiting.length ? [`${namesOf(waiting)}: no model is loaded yet, so words alone find something. If that stays, run \`rag-ls doctor\`.`] : [];
  return [...gone, ...noted, ...modelless, ...others];
}

const namesOf = (projects) => projects.map(({ name }) => name).join(", ");

function standOf(project) {
  if (project.missing) return el("span", { class: "bad" }, "its folder is gone");
  const stand = project.complete ? "indexed" : project.indexed_percent ? `${doing(project)}, ${project.indexed_percent.vectors} %` : "not complete";
  return [`${many(project.documents, "file")}, ${megabytes(project.bytes)}`, stand, project.branch].filter(Boolean).join(" · ");
}

/** The clients by name; several of one name are one line. */
function clientRows(clients) {
  const named = Map.groupBy(clients, ({ surface, name }) => (surface === "http" && name === "page" ? "This page" : name || `A ${SURFACES[surface] ?? surface}`));
  return [...named].map(([name, [first, ...more]]) => {
    const pids = [first, ...more].map(({ pid }) => pid).filter(Boolean);
    const facts = [/^(A|This) /.test(name) ? "" : SURFACES[first.surface], more.length ? `connected ${more.length + 1} times` : "", `since ${timeOf(first.connected_at)}`, pids.length ? `${pids.length > 1 ? "processes" : "process"} ${pids.join(", ")}` : ""];
    return el("li", {}, el("strong", {}, name), " ", el("span", { class: "quiet" }, facts.filter(Boolean).join(", ")));
  });
}

function latencyTable(latencies) {
  const rows = Object.entries(latencies).sort(([, one], [, other]) => other.count - one.count);
  const head = ["Question", "Times asked", "Half within", "95 % within", "99 % within"];
  return el("table", {}, el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map(([name, { count, p50_ms, p95_ms, p99_ms }]) => el("tr", {}, el("th", { scope: "row" }, name.replaceAll("_", " ")), [count.toLocaleString("en"), ...[p50_ms, p95_ms, p99_ms].map((value) => `${value} ms`)].map((cell) => el("td", {}, cell))))));
}

const figure = (term, value, what) => el("div", {}, el("dt", {}, term), el("dd", {}, el("strong", {}, value), el("span", { class: "quiet" }, what)));
const megabytes = (bytes) => `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: bytes < 1e7 ? 1 : 0 })} MB`;

/** Seconds in words that people use. */
function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
