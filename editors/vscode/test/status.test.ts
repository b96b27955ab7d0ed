import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProjectStatus } from "../src/server/answers.ts";
import { REMEDIES, duration, problemHtml, statusHtml } from "../src/status/html.ts";
import { summary } from "../src/status/summary.ts";

const project: ProjectStatus = {
  root: "/work/shop", complete: true, documents: 1234, chunks: 5000, queued_documents: 0, pending_embeddings: 0,
  indexed_percent: { words: 100, vectors: 100 }, activity: "idle", model: "m@1", skipped: { binary: 2 },
};
const running = { starting: false, problem: "" };

test("where nothing runs, the page says why and offers what helps", () => {
  const page = problemHtml("it <was> stopped");
  assert.match(page, /it &lt;was&gt; stopped/);
  assert.deepEqual([...page.matchAll(/data-command="(\w+)"/g)].map(([, command]) => command), Object.keys(REMEDIES));
});

test("a complete index says how much it holds", () => {
  assert.deepEqual(summary([project], running), { text: "$(search) rag-ls", tooltip: "rag-ls: 1,234 files indexed", isProblem: false, isBusy: false });
  assert.equal(summary([{ ...project, complete: false, queued_documents: 1 }], running).text, "$(search) rag-ls");
  assert.ok(summary([{ ...project, complete: false, documents: 0 }], running).isBusy);
  assert.ok(summary([{ ...project, complete: false, activity: "scanning" }], running).isBusy);
});

test("without a folder it says so", () => {
  assert.equal(summary([], running).tooltip, "rag-ls: no folder is open");
});

test("one that grows says how far the tier at work is", () => {
  const grows = (words: number, vectors: number): ProjectStatus => ({ ...project, complete: false, indexed_percent: { words, vectors } });
  assert.equal(summary([project, grows(40, 3)], running).text, "$(sync~spin) rag-ls 40 %");
  assert.equal(summary([grows(100, 12)], running).text, "$(sync~spin) rag-ls 12 %");
});

test("a server that does not run is a problem, one that starts is none", () => {
  assert.ok(summary(undefined, { starting: false, problem: "not found" }).isProblem);
  assert.match(summary(undefined, { starting: true, problem: "" }).tooltip, /starting/);
});

const engine = {
  uptime_s: 7200, memory_bytes: 412_000_000, processor_s: 120,
  clients: [["lsp", "Code", 7], ["lsp", "Code", 8], ["cli", "", 9]].map(([surface, name, pid]) => ({ surface: `${surface}`, name: `${name}`, pid: Number(pid), connected_at: "2026-01-01T00:00:00+00:00" })),
  latency: { search_code: { count: 1200, p50_ms: 8.1, p95_ms: 20, p99_ms: 31 }, hover: { count: 3, p50_ms: 1, p95_ms: 2, p99_ms: 2 } },
};

const told = (projects: readonly ProjectStatus[], load?: number) => statusHtml({ version: "0.1.0", complete: true, projects, engine }, "/bin/rag-ls", load);

test("the page begins with whether everything is indexed, else with what is missing and what goes on", () => {
  assert.match(told([project]), /Everything is indexed\..*1,234 files in 1 project\./);
  assert.doesNotMatch(told([project]), /<progress/);
  const growing = { ...project, complete: false, activity: "embedding 480/884 chunks", indexed_percent: { words: 100, vectors: 54 } };
  assert.match(told([project, growing]), /One project is not indexed completely yet\..*shop: embedding 480\/884 chunks; 100 % is found by words, 54 % by meaning\./);
  assert.match(told([growing]), /<progress max="100" value="54"/);
  assert.match(told([{ ...growing, model: "" }]), /; 100 % is found by words\./);
  assert.match(told([]), /No folder is open/);
});

test("what is wrong is said with what to do", () => {
  assert.doesNotMatch(told([project]), /class="note"/);
  const html = told([{ ...project, note: "on <battery>", model_ready: false }]);
  assert.match(html, /shop: on &lt;battery&gt;/);
  assert.match(html, /rag-ls doctor/);
  assert.doesNotMatch(told([{ ...project, model: "", model_ready: false }]), /no model is loaded yet/);
});

test("the page shows what a project is made of, and why files were skipped", () => {
  const html = told([{
    ...project, languages: { python: { documents: 900, chunks: 4000 }, toml: { documents: 2, chunks: 1000 } }, skipped_files: [{ path: "logo.png", reason: "binary" }],
  }]);
  for (const part of [">shop</span>", "5,000 chunks", "2 binary", ">logo.png</th><td>binary<", "and 1 more"]) {
    assert.ok(html.includes(part), part);
  }
});

test("it costs memory and processor time; latencies are one table, the most asked first; clients of one name are one line", () => {
  const html = told([project], 3);
  assert.match(html, /412 MB/);
  assert.match(html, /3 %<\/strong> <span class="quiet">of one core now; 2 min since it started/);
  assert.ok(html.indexOf("search code") < html.indexOf("hover"));
  assert.match(html, /up for 2\.0 h/);
  assert.match(html, /<strong>Code<\/strong> <span class="quiet">editor, connected 2 times, processes 7, 8/);
  assert.match(html, /<strong>A shell<\/strong>/);
});

test("times are said in units that people use", () => {
  assert.deepEqual([0.4, 89, 600, 7200].map(duration), ["0 s", "89 s", "10 min", "2.0 h"]);
});
