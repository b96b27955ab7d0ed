// The engine as it is now: clients, queue, latencies as small plots.
import { run } from "./api.js";
import { el, trying } from "./dom.js";
import { plot } from "./plot.js";

const EVERY_MS = 2000;
const KEPT = 60;
const HEADS = ["Surface", "Name", "Process", "Since"];
const kept = new Map();

export async function showStatus(view, signal) {
  const head = el("p", { class: "quiet" }), grid = el("div", { class: "grid" }), rows = el("tbody", {}), cards = new Map();
  const table = el("table", {}, el("thead", {}, el("tr", {}, HEADS.map((name) => el("th", { scope: "col" }, name)))), rows);
  view.replaceChildren(el("h2", {}, "Status"), head, grid, el("h2", {}, "Clients"), el("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Clients" }, table));
  while (!signal.aborted) {
    const status = await trying(() => run("engine_status", { open_only: true }, { signal }));
    if (signal.aborted) return;
    if (!status) head.replaceChildren("The engine does not answer; it is asked again in a moment.");
    else {
      const { engine } = status;
      head.replaceChildren(`Version ${engine.version}, process ${engine.pid}, up ${Math.round(engine.uptime_s / 60)} minutes.`);
      for (const figure of figures(status)) show(figure, cards, grid);
      rows.replaceChildren(...(engine.clients ?? []).map((each) => el("tr", {}, [each.surface, each.name, each.pid ?? "", each.connected_at.slice(0, 16)].map((cell) => el("td", {}, String(cell))))));
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function figures({ engine, projects }) {
  const queued = projects.reduce((sum, each) => sum + each.queued_documents + each.pending_embeddings, 0);
  const megabytes = (engine.memory_bytes ?? 0) / 1e6;
  return [{ name: "Memory", values: [megabytes], words: `${Math.round(megabytes)} MB` },
    { name: "Queue", values: [queued], words: `${queued} documents and vectors in ${many(projects.length, "open project")}` },
    ...Object.entries(engine.latency ?? {}).map(([name, each]) => ({ name, values: [each.p50_ms, each.p95_ms], words: `${each.p50_ms} ms p50, ${each.p95_ms} ms p95 (thin), ${many(each.count, "call")}` }))];
}

/** Show a figure in its card, which stays where it is. */
function show({ name, values, words }, cards, grid) {
  const series = kept.get(name) ?? values.map(() => []);
  kept.set(name, series.map((former, place) => [...former, values[place]].slice(-KEPT)));
  if (!cards.has(name)) {
    const made = { words: el("div", { class: "quiet" }), plot: el("div", {}) };
    cards.set(name, made);
    grid.append(el("div", { class: "card" }, el("h3", {}, name), made.words, made.plot));
  }
  cards.get(name).words.replaceChildren(words);
  cards.get(name).plot.replaceChildren(plot(kept.get(name), name));
}
