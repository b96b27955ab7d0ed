import assert from "node:assert/strict";
import { test } from "node:test";
import { grouped, groupedByProject, isStale, titleOf } from "../src/memories/groups.ts";
import { BadFrontMatter, fromMarkdown, toMarkdown } from "../src/memories/markdown.ts";
import { fileNameOf, idIn, queryOf } from "../src/memories/names.ts";
import { planTexts } from "../src/memories/plan.ts";
import type { Memory } from "../src/server/answers.ts";

const memory: Memory = {
  id: "2b710db3",
  content: "Payments are retried twice.\n\n--- \nNot more.",
  scope: "project",
  memory_type: "procedural",
  metadata: { tags: ["payments", "retries"], importance_score: 0.8 },
  anchor: { path: "src/pay.py", line: 7, symbol: "Pay.retry", state: "drifted" },
};

test("a memory comes back from its document as it was", () => {
  assert.deepEqual(fromMarkdown(toMarkdown(memory)), {
    content: memory.content,
    scope: "project",
    tags: ["payments", "retries"],
    memory_type: "procedural",
    importance: 0.8,
  });
  assert.match(toMarkdown(memory), /# about src\/pay\.py:7 \(Pay\.retry\), drifted/);
});

test("memories of several projects are told apart by their folders, and what they share is there once", () => {
  const shared: Memory = { id: "3", content: "c", scope: "global" };
  const groups = groupedByProject([
    { root: "/work/shop", memories: [memory, shared] },
    { root: "C:\\work\\bank", memories: [{ ...memory, id: "4" }, shared] },
  ]);
  assert.deepEqual(groups.map(({ title }) => title), ["shop", "bank", "All projects"]);
  assert.deepEqual(groups.map(({ groups: inner, memories }) => inner.length + memories.length), [1, 1, 1]);
});

test("a tag that holds a comma or a quote comes back as it was", () => {
  const tags = ["a, b", 'say "no"', "plain"];
  assert.deepEqual(fromMarkdown(toMarkdown({ ...memory, metadata: { tags } })).tags, tags);
  assert.deepEqual(fromMarkdown('---\ntags: "half, x,, y \n---\nz').tags, ['"half', "x", "y"]);
});

test("a document without front matter is all text, with lines of any kind", () => {
  const draft = fromMarkdown("one\r\ntwo\r\n");
  assert.equal(draft.content, "one\ntwo");
  assert.deepEqual([draft.scope, draft.memory_type, draft.importance], ["project", "semantic", undefined]);
});

test("what is wrong is said", () => {
  const wrong = ["", toMarkdown({}), "---\nscope: here\n---\nx", "---\nimportance: 2\n---\nx", "---\ncolour: red\n---\nx"];
  for (const text of wrong) {
    assert.throws(() => fromMarkdown(text), BadFrontMatter);
  }
});

test("memories are grouped by scope, then by the file that they are about or by tag", () => {
  const tagged: Memory = { id: "2", content: "b", scope: "global", metadata: { tags: ["x", "y"] } };
  const plain: Memory = { id: "3", content: "c", scope: "global" };
  const [project, global] = grouped([plain, tagged, memory]);
  assert.deepEqual([project?.title, project?.groups.map((group) => group.title)], ["This project", ["src/pay.py"]]);
  assert.deepEqual(global?.groups.map((group) => [group.title, group.memories.length]), [["#x", 1], ["#y", 1]]);
  assert.deepEqual(global?.memories, [plain]);
});

test("one whose code has changed is stale, and its title is its first line", () => {
  assert.ok(isStale(memory));
  assert.ok(!isStale({ ...memory, anchor: null }));
  assert.equal(titleOf(memory), "Payments are retried twice.");
});

test("a memory's document is called by the beginning of its first line", () => {
  assert.equal(fileNameOf(memory), "Payments are retried twice.md");
  assert.equal(fileNameOf({ content: "a/b: `c`?\nsecond" }), "a b `c`.md");
  assert.equal(fileNameOf({ content: "Old clients send broken cookies, and some of the proxies do so as well" }), "Old clients send broken cookies, and.md");
  assert.equal(fileNameOf({ content: "///" }), "Memory.md");
});

test("the id of a memory is in the query of its document's address, and a draft has none", () => {
  assert.equal(idIn(queryOf("2b710db3-1111")), "2b710db3-1111");
  assert.equal(idIn(JSON.stringify({ draft: "2b710db3-1111", line: 7 })), undefined);
  assert.equal(idIn(""), undefined);
});

test("a plan is compared as what is remembered before and after", () => {
  const brief = (id: string) => ({ id, content: `${id}…`, scope: "project" });
  const plan = {
    merges: [{ kept: brief("new"), merged: [brief("old")] }],
    proposals: [{ memories: [brief("so"), brief("thus")], cosine: 0.912 }],
    contradictions: [{ memories: [brief("yes"), brief("no")], reason: "negation" }],
    never_recalled: [],
    undo: {},
  };
  const { before, after, going } = planTexts(plan, (id) => `all of ${id}`);
  assert.equal(going, 1);
  assert.match(before, /2 memories that say the same\n\nall of new\n\nall of old\n/);
  assert.ok(after.includes("all of new") && !after.includes("all of old"));
  assert.match(after, /“so…” and “thus…”/);
  assert.match(after, /“yes…” and “no…”: negation/);
});
