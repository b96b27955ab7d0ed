// The engine as it is now: clients, queue, latencies as small plots.
import { run } from "./api.js";
import { el, trying } from "./dom.js";
import { plot } from "./plot.js";

const EVERY_MS = 2000;
const KEPT = 60;
const kept = new Map();

export async function showStatus(view, signal) {
  const place = el("div", {});
  view.replaceChildren(el("h2", {}, "Status"), place);
  while (!signal.aborted) {
    const status = await trying(() => run("engine_status", {}, { signal }));
    if (signal.aborted) return;
    if (!status) { place.replaceChildren(el("p", {}, "The engine does not answer; it is asked again in a moment.")); }
    else place.replaceChildren(...parts(status));
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

function parts({ engine, projects }) {
  const queued = projects.reduce((sum, each) => sum + each.queued_documents + each.pending_embeddings, 0);
  const figures = [["Memory", engine.memory_bytes ? engine.memory_bytes / 1e6 : 0, "MB"], ["Queue", queued, "documents and vectors"],
    ...Object.entries(engine.latency ?? {}).map(([name, each]) => [name, each.p50_ms, `ms p50, ${each.p95_ms} ms p95, ${each.count} calls`])];
  return [el("p", { class: "quiet" }, `Version ${engine.version}, process ${engine.pid}, up ${Math.round(engine.uptime_s / 60)} minutes.`),
    el("div", { class: "grid" }, figures.map(([name, value, unit]) => {
      const values = kept.get(name) ?? [];
      values.push(value);
      kept.set(name, values.slice(-KEPT));
      return el("div", { class: "card" }, el("h3", {}, name), el("div", { class: "quiet" }, `${Math.round(value * 10) / 10} ${unit}`), plot(kept.get(name), name));
    })),
    el("h2", {}, "Clients"), el("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Clients" }, el("table", {}, el("thead", {}, el("tr", {}, ["Surface", "Name", "Process", "Since"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, (engine.clients ?? []).map((each) => el("tr", {}, [each.surface, each.name, each.pid ?? "", each.connected_at.slice(0, 16)].map((cell) => el("td", {}, String(cell))))))))];
}
