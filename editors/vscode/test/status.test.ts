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
  assert.deepEqual(summary([project], running), { text: "$(search) rag-ls", tooltip: "rag-ls: 1,234 files are indexed", isProblem: false, isBusy: false });
  assert.equal(summary([{ ...project, complete: false, queued_documents: 1 }], running).text, "$(search) rag-ls");
  assert.ok(summary([{ ...project, complete: false, documents: 0 }], running).isBusy);
  assert.ok(summary([{ ...project, complete: false, activity: "scanning" }], running).isBusy);
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
  uptime_s: 7200, memory_bytes: 412_000_000, clients: [{ surface: "lsp", name: "Code", pid: 7, connected_at: "2026-01-01T00:00:00+00:00" }],
  latency: { search_code: { count: 1200, p50_ms: 8.1, p95_ms: 20, p99_ms: 31 }, hover: { count: 3, p50_ms: 1, p95_ms: 2, p99_ms: 2 } },
};

test("the page shows what a project is made of, and why files were skipped", () => {
  const detailed: ProjectStatus = {
    ...project, note: "on <battery>", languages: { python: { documents: 900, chunks: 4000 }, toml: { documents: 2, chunks: 1000 } },
    skipped_files: [{ path: "logo.png", reason: "binary" }],
  };
  const html = statusHtml({ version: "0.1.0", complete: true, projects: [detailed] }, "/bin/rag-ls", []);
  for (const told of ["<h2>shop</h2>", "<dd>1,234</dd>", "on &lt;battery&gt;", "2 binary", ">logo.png</th><td>binary<", "and 1 more"]) {
    assert.ok(html.includes(told), told);
  }
  assert.deepEqual([...html.matchAll(/<rect width="(\d+)"/g)].map(([, width]) => width), ["160", "40"]);
});

test("the engine's answers are listed by how often they are asked, and its memory over time is said in words too", () => {
  const samples = [{ at: 0, bytes: 300_000_000 }, { at: 60_000, bytes: 412_000_000 }];
  const html = statusHtml({ version: "0.1.0", complete: true, projects: [], engine }, "", samples);
  assert.ok(html.indexOf("search code") < html.indexOf("hover"));
  assert.match(html, /Memory: 412 MB/);
  assert.match(html, /aria-label="Memory over the last 60 s: from 300 MB to 412 MB"/);
  assert.match(html, /running for 2\.0 h/);
  assert.match(html, /No folder is open/);
});

test("times are said in units that people use", () => {
  assert.deepEqual([0.4, 89, 600, 7200].map(duration), ["0 s", "89 s", "10 min", "2.0 h"]);
});
