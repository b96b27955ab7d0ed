import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProjectStatus } from "../src/server/answers.ts";
import { page, summary } from "../src/statusText.ts";

const project: ProjectStatus = {
  root: "/work/shop", complete: true, documents: 1234, chunks: 5000, queued_documents: 0, pending_embeddings: 0,
  indexed_percent: { words: 100, vectors: 100 }, activity: "idle", model: "m@1", skipped: { binary: 2 },
};
const running = { starting: false, problem: "" };

test("a complete index says how much it holds", () => {
  assert.deepEqual(summary([project], running), { text: "$(search) rag-ls", tooltip: "rag-ls: 1,234 files are indexed", isProblem: false });
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

test("the page shows every project, and says where none is open", () => {
  const text = page({ version: "0.1.0", complete: true, projects: [{ ...project, note: "on battery" }] }, "/bin/rag-ls");
  assert.match(text, /## \/work\/shop\n\n- files: 1,234\n/);
  assert.match(text, /- skipped: 2 binary\n/);
  assert.match(text, /- note: on battery\n/);
  assert.match(page({ version: "0.1.0", complete: true, projects: [] }, ""), /No project is open/);
});
