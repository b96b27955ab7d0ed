// The status page, in the order of what people ask: is all indexed, what is wrong, what it costs. No editor in here, so that it can be tested without one.
import type { EngineStatus, ProjectStatus, Status } from "../server/answers.ts";
import type { ClientRecord } from "../server/records.ts";

const number = new Intl.NumberFormat("en");
const MB = 1_000_000;
const MOST_LANGUAGES = 12;
const SURFACES: Readonly<Record<string, string>> = { lsp: "editor", mcp: "agent", cli: "shell", http: "program" };

/** What helps where nothing runs: commands by their name after `ragLs.ui.`, and what their buttons say. */
export const REMEDIES: Readonly<Record<string, string>> = { restart: "Restart Server", install: "Install Server…", showLog: "Show Log" };

/** The page's content. `command` is what runs, `load` its share of one core in percent, where it is known. */
export function statusHtml(status: Status, command: string, load: number | undefined): string {
  const { engine, projects } = status;
  const rows = projects.map(projectHtml).join("");
  const about = [`rag-ls ${status.version}`, engine ? `up for ${duration(engine.uptime_s)}` : "", command, engine?.log ? `its log is ${engine.log}` : ""];
  return `${verdictHtml(projects)}${problemsHtml(projects)}${engine ? costsHtml(engine, load) : ""}
${rows ? `<h2>Projects</h2><div class="list">${rows}</div>` : ""}${engine ? clientsHtml(engine.clients ?? []) + latenciesHtml(engine) : ""}
<p class="quiet">${about.filter(Boolean).map(escaped).join(", ")}</p>`;
}

/** The page where nothing can be asked. */
export function problemHtml(problem: string): string {
  const buttons = Object.entries(REMEDIES).map(([command, title]) => `<button type="button" data-command="${command}">${title}</button>`);
  return `${verdict("bad", "rag-ls does not run.", problem)}<p>${buttons.join(" ")}</p>`;
}

function verdict(kind: "good" | "busy" | "bad", title: string, text: string): string {
  return `<div class="verdict"><span class="dot ${kind}" aria-hidden="true"></span><div><h1>${escaped(title)}</h1><p class="quiet">${escaped(text)}</p></div></div>`;
}

function verdictHtml(projects: readonly ProjectStatus[]): string {
  const left = projects.filter(({ complete }) => !complete);
  if (projects.length === 0) {
    return verdict("busy", "No folder is open.", "Open one, and it is indexed.");
  }
  if (left.length === 0) {
    return verdict("good", "Everything is indexed.", `${many(projects.reduce((sum, { documents }) => sum + documents, 0), "file")} in ${many(projects.length, "project")}.`);
  }
  const words = left.map((project) => `${nameOf(project)}: ${project.activity}; ${project.indexed_percent.words} % is found by words${project.model ? `, ${project.indexed_percent.vectors} % by meaning` : ""}.`);
  return verdict("busy", left.length === 1 ? "One project is not indexed completely yet." : `${left.length} projects are not indexed completely yet.`, words.join(" "));
}

function problemsHtml(projects: readonly ProjectStatus[]): string {
  const notes = projects.flatMap((project) => [
    project.note ? `${nameOf(project)}: ${project.note}` : "",
    project.model && project.model_ready === false ? `${nameOf(project)}: no model is loaded yet, so it is found by words alone. If that stays, run \`rag-ls doctor\`.` : "",
  ]);
  const items = notes.filter(Boolean).map((note) => `<li>${escaped(note)}</li>`);
  return items.length > 0 ? `<ul class="note">${items.join("")}</ul>` : "";
}

function costsHtml({ memory_bytes, processor_s }: EngineStatus, load: number | undefined): string {
  const figures = [
    memory_bytes === undefined ? "" : figure("Memory", `${number.format(Math.round(memory_bytes / MB))} MB`, "with its helpers"),
    processor_s === undefined ? "" : figure("Processor", load === undefined ? "…" : `${load} %`, `of one core now; ${duration(processor_s)} since it started`),
  ];
  return `<h2>What it costs</h2><dl class="figures">${figures.join("")}</dl>`;
}

function figure(term: string, value: string, what: string): string {
  return `<div><dt>${term}</dt><dd><strong>${value}</strong> <span class="quiet">${what}</span></dd></div>`;
}

function projectHtml(project: ProjectStatus): string {
  const memories = Object.values(project.memories ?? {}).reduce((sum, count) => sum + count, 0);
  const facts = [many(project.chunks, "chunk"), many(memories, "memory"), `model ${project.model || "none"}`, project.sync ?? ""];
  const stand = project.complete ? "indexed" : `${project.activity}, ${project.indexed_percent.vectors} %`;
  return `<details data-key="project ${escaped(project.root)}"><summary><span class="label">${escaped(nameOf(project))}</span> <span class="quiet">${many(project.documents, "file")} · ${escaped(stand)}</span></summary>
<p class="quiet">${escaped(project.root)}<br>${facts.filter(Boolean).map(escaped).join(" · ")}</p>${languagesHtml(project)}${skippedHtml(project)}</details>
${project.complete ? "" : `<progress max="100" value="${project.indexed_percent.vectors}" aria-label="${escaped(nameOf(project))}: found by meaning"></progress>`}`;
}

function languagesHtml(project: ProjectStatus): string {
  const all = Object.entries(project.languages ?? {});
  const rows = all
    .slice(0, MOST_LANGUAGES)
    .map(([name, { documents, chunks }]) => `<tr><th scope="row">${escaped(name)}</th><td>${number.format(documents)}</td><td>${number.format(chunks)}</td></tr>`);
  const rest = all.length > MOST_LANGUAGES ? `<p class="quiet">and ${all.length - MOST_LANGUAGES} more</p>` : "";
  return all.length === 0 ? "" : `${table(["Language", "Files", "Chunks"], rows)}${rest}`;
}

function skippedHtml(project: ProjectStatus): string {
  const reasons = Object.entries(project.skipped);
  if (reasons.length === 0) {
    return `<p class="quiet">No file is skipped.</p>`;
  }
  const total = reasons.reduce((sum, [, count]) => sum + count, 0);
  const files = project.skipped_files ?? [];
  const rows = files.map(({ path, reason }) => `<tr><th scope="row">${escaped(path)}</th><td>${escaped(reason)}</td></tr>`);
  const said = reasons.map(([reason, count]) => `${number.format(count)} ${escaped(reason)}`).join(", ");
  const rest = total > files.length ? `<p class="quiet">and ${number.format(total - files.length)} more</p>` : "";
  return `<details class="skipped" data-key="skipped ${escaped(project.root)}"><summary>Skipped files: ${said}</summary>${table(["File", "Why"], rows)}${rest}</details>`;
}

/** The clients by name; several of one name are one line. */
function clientsHtml(clients: readonly ClientRecord[]): string {
  const named = new Map<string, ClientRecord[]>();
  for (const client of clients) {
    const key = `${client.surface} ${client.name}`;
    named.set(key, [...(named.get(key) ?? []), client]);
  }
  return `<h2>Who is connected</h2><ul class="plain">${[...named.values()].map(clientRow).join("")}</ul>`;
}

function clientRow(same: readonly ClientRecord[]): string {
  const { surface = "", name = "" } = same[0] ?? {};
  const kind = SURFACES[surface] ?? surface;
  const pids = same.flatMap(({ pid }) => (pid === null ? [] : [pid]));
  const facts = [name ? kind : "", same.length > 1 ? `connected ${same.length} times` : "", pids.length > 0 ? `process${pids.length > 1 ? "es" : ""} ${pids.join(", ")}` : ""];
  return `<li><strong>${escaped(name || `A ${kind}`)}</strong> <span class="quiet">${facts.filter(Boolean).map(escaped).join(", ")}</span></li>`;
}

function latenciesHtml(engine: EngineStatus): string {
  const latencies = Object.entries(engine.latency ?? {}).toSorted(([, one], [, other]) => other.count - one.count);
  const rows = latencies.map(
    ([name, { count, p50_ms, p95_ms, p99_ms }]) =>
      `<tr><th scope="row">${escaped(name.replaceAll("_", " "))}</th><td>${number.format(count)}</td>${[p50_ms, p95_ms, p99_ms].map((value) => `<td>${value} ms</td>`).join("")}</tr>`,
  );
  const heads = ["Question", "Times asked", "Half within", "95 % within", "99 % within"];
  return `<details class="latencies" data-key="latencies"><summary>Latencies</summary>${table(heads, rows)}</details>`;
}

function table(heads: readonly string[], rows: readonly string[]): string {
  return `<table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function nameOf({ root }: ProjectStatus): string {
  return root.split(/[\\/]/).at(-1) || root;
}

/** A count with its noun: "1 file", "2 memories". */
export function many(count: number, noun: string): string {
  return `${number.format(count)} ${count === 1 ? noun : `${noun.replace(/y$/, "ie")}s`}`;
}

/** Seconds in words that people use. */
export function duration(seconds: number): string {
  if (seconds < 90) {
    return `${Math.round(seconds)} s`;
  }
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
