// The status page: numbers, each with its picture beside it. No editor in here, so that it can be tested without one.
import type { EngineStatus, ProjectStatus, Status } from "../server/answers.ts";

/** What was seen of the engine while the page was open; `at` in milliseconds. */
export interface Sample {
  readonly at: number;
  readonly bytes: number;
}

const number = new Intl.NumberFormat("en");
const BAR = { width: 160, height: 10 };
const LINE = { width: 320, height: 48 };
const MB = 1_000_000;
const MOST_LANGUAGES = 12;

/** What helps where nothing runs: commands by their name after `ragLs.ui.`, and what their buttons say. */
export const REMEDIES: Readonly<Record<string, string>> = { restart: "Restart Server", install: "Install Server…", showLog: "Show Log" };

/** The page's content. `command` is what runs, `samples` the memory so far. */
export function statusHtml(status: Status, command: string, samples: readonly Sample[]): string {
  const projects = status.projects.map(projectHtml).join("") || "<p>No folder is open.</p>";
  const engine = status.engine ? engineHtml(status.engine, samples) : "";
  return `<h1>rag-ls ${escaped(status.version)}</h1><p class="quiet"><code>${escaped(command)}</code></p>${projects}${engine}`;
}

/** The page where nothing can be asked. */
export function problemHtml(problem: string): string {
  const buttons = Object.entries(REMEDIES).map(([command, title]) => `<button type="button" data-command="${command}">${title}</button>`);
  return `<h1>rag-ls</h1><p class="note">It does not run: ${escaped(problem)}</p><p>${buttons.join(" ")}</p>`;
}

function projectHtml(project: ProjectStatus): string {
  const name = project.root.split(/[\\/]/).at(-1) ?? project.root;
  const facts: [string, string][] = [
    ["Files", number.format(project.documents)],
    ["Chunks", number.format(project.chunks)],
    ["To read", number.format(project.queued_documents)],
    ["To embed", number.format(project.pending_embeddings)],
    ["Memories", number.format(Object.values(project.memories ?? {}).reduce((sum, count) => sum + count, 0))],
    ["Model", project.model || "none"],
    ["Changes", project.sync ?? ""],
    ["Now", project.activity],
  ];
  return `<section><h2>${escaped(name)}</h2><p class="quiet">${escaped(project.root)}</p>
${project.note ? `<p class="note">${escaped(project.note)}</p>` : ""}
${progress("Found by words", project.indexed_percent.words)}${progress("Found by meaning", project.indexed_percent.vectors)}
<dl>${facts.filter(([, value]) => value).map(([term, value]) => `<div><dt>${term}</dt><dd>${escaped(value)}</dd></div>`).join("")}</dl>
${languagesHtml(project)}${skippedHtml(project)}</section>`;
}

function progress(label: string, percent: number): string {
  return `<label class="progress"><span>${label}</span><progress max="100" value="${percent}"></progress><span>${percent} %</span></label>`;
}

function languagesHtml(project: ProjectStatus): string {
  const all = Object.entries(project.languages ?? {});
  const most = Math.max(1, ...all.map(([, { chunks }]) => chunks));
  const rows = all
    .slice(0, MOST_LANGUAGES)
    .map(([name, { documents, chunks }]) => `<tr><th scope="row">${escaped(name)}</th><td>${number.format(documents)}</td><td>${number.format(chunks)}</td><td>${bar(chunks / most)}</td></tr>`);
  const rest = all.length > MOST_LANGUAGES ? `<p class="quiet">and ${all.length - MOST_LANGUAGES} more</p>` : "";
  return all.length === 0 ? "" : `<h3>Languages</h3>${table(["Language", "Files", "Chunks"], rows)}${rest}`;
}

function skippedHtml(project: ProjectStatus): string {
  const reasons = Object.entries(project.skipped);
  if (reasons.length === 0) {
    return "";
  }
  const total = reasons.reduce((sum, [, count]) => sum + count, 0);
  const files = project.skipped_files ?? [];
  const rows = files.map(({ path, reason }) => `<tr><th scope="row">${escaped(path)}</th><td>${escaped(reason)}</td></tr>`);
  const said = reasons.map(([reason, count]) => `${number.format(count)} ${escaped(reason)}`).join(", ");
  const rest = total > files.length ? `<p class="quiet">and ${number.format(total - files.length)} more</p>` : "";
  return `<h3>Skipped files</h3><details data-key="skipped ${escaped(project.root)}"><summary>${said}</summary>${table(["File", "Why"], rows)}${rest}</details>`;
}

function engineHtml(engine: EngineStatus, samples: readonly Sample[]): string {
  const latencies = Object.entries(engine.latency ?? {}).toSorted(([, one], [, other]) => other.count - one.count);
  const slowest = Math.max(1, ...latencies.map(([, { p95_ms }]) => p95_ms));
  const rows = latencies.map(
    ([name, { count, p50_ms, p95_ms, p99_ms }]) =>
      `<tr><th scope="row">${escaped(name.replaceAll("_", " "))}</th><td>${number.format(count)}</td><td>${p50_ms}</td><td>${p95_ms}</td><td>${p99_ms}</td><td>${bar(p95_ms / slowest)}</td></tr>`,
  );
  const clients = (engine.clients ?? []).map(({ surface, name, pid }) => `<li>${escaped([surface, name].filter(Boolean).join(" "))} <span class="quiet">process ${pid}</span></li>`);
  const memory = engine.memory_bytes === undefined ? "" : `<h3>Memory: ${megabytes(engine.memory_bytes)}</h3>${line(samples)}`;
  return `<section><h2>Engine</h2><p class="quiet">running for ${duration(engine.uptime_s)}${engine.log ? `, log in <code>${escaped(engine.log)}</code>` : ""}</p>
${memory}<h3>Answers, in milliseconds</h3>${table(["Question", "Count", "p50", "p95", "p99"], rows)}
<h3>Who is connected</h3><ul>${clients.join("")}</ul></section>`;
}

function table(heads: readonly string[], rows: readonly string[]): string {
  const wide = rows[0]?.includes("<svg") ? '<td aria-hidden="true"></td>' : "";
  return `<table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}${wide}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

/** A bar beside a number, which says the same. */
function bar(share: number): string {
  const width = Math.max(1, Math.round(share * BAR.width));
  return `<svg class="bar" aria-hidden="true" width="${BAR.width}" height="${BAR.height}"><rect width="${width}" height="${BAR.height}" rx="2"/></svg>`;
}

function line(samples: readonly Sample[]): string {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || first === last) {
    return "";
  }
  const most = Math.max(...samples.map(({ bytes }) => bytes)) * 1.1;
  const span = last.at - first.at;
  const points = samples.map(({ at, bytes }) => `${(((at - first.at) / span) * LINE.width).toFixed(1)},${(LINE.height * (1 - bytes / most)).toFixed(1)}`);
  const label = `Memory over the last ${duration(span / 1000)}: from ${megabytes(first.bytes)} to ${megabytes(last.bytes)}`;
  return `<svg class="line" role="img" aria-label="${label}" viewBox="0 0 ${LINE.width} ${LINE.height}" width="${LINE.width}" height="${LINE.height}"><polyline points="${points.join(" ")}"/></svg>`;
}

function megabytes(bytes: number): string {
  return `${number.format(Math.round(bytes / MB))} MB`;
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
