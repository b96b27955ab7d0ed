import assert from "node:assert/strict";
import { test } from "node:test";
import { codeGroups, countOf, lineHits, linesIn, memoryGroups, shown } from "../src/search/items.ts";
import { wordsOf } from "../src/search/snippet.ts";
import type { CodeHit } from "../src/server/answers.ts";

const hit: CodeHit = {
  id: "1", path: "src/a.py", file: "/work/src/a.py", start_line: 4, end_line: 6, language: "python", symbol: "retry", score: 0.8,
  freshness: "disk", text: "def retry(call):\n    return call()\n",
};

test("a hit is its symbol, its place and its first lines", () => {
  assert.deepEqual(shown(hit), { label: "retry", description: "src/a.py:4", detail: "def retry(call): return call()" });
});

test("a hit without a symbol is its first line, and unsaved text says so", () => {
  const { label, description, detail } = shown({ ...hit, symbol: "", freshness: "buffer" });
  assert.equal(label, "def retry(call):");
  assert.equal(description, "src/a.py:4 (unsaved)");
  assert.equal(detail, "return call()");
  assert.equal(shown({ ...hit, symbol: "", text: " \n" }).label, "src/a.py");
});

test("a signature of several lines reads as one", () => {
  const text = "def set_cookie(\n    self,\n    key: str,\n) -> None:\n    pass\n";
  assert.equal(shown({ ...hit, text }).detail, "def set_cookie(self, key: str,) -> None: pass");
});

test("long lines are cut", () => {
  assert.ok(shown({ ...hit, text: "x".repeat(1000) }).detail.length <= 160);
});

test("hits are grouped by file in the order of the best, and by line within one", () => {
  const other = { ...hit, id: "2", file: "/work/src/b.py", path: "src/b.py" };
  const above = { ...hit, id: "3", start_line: 1 };
  const groups = codeGroups([hit, other, above], wordsOf("retry"));
  assert.deepEqual(groups.map(({ folder, title, hits }) => [folder, title, hits.map(({ index }) => index)]), [["src", "a.py", [2, 0]], ["src", "b.py", [1]]]);
  assert.deepEqual([groups[1]?.hits[0]?.label, groups[1]?.hits[0]?.place], ["retry", "4"]);
  assert.equal(countOf(groups, "files"), "3 hits in 2 files");
  assert.equal(countOf([], "files"), "Nothing was found.");
});

test("memories are grouped by scope, with their first lines", () => {
  const groups = memoryGroups([{ id: "1", content: "Retries stop after five.\n\nThe bank blocks us at six.", scope: "project" }], "bank");
  assert.equal(groups[0]?.title, "This project");
  assert.equal(groups[0]?.hits[0]?.label, "Retries stop after five.");
  assert.deepEqual(groups[0]?.hits[0]?.lines[0]?.filter(({ match }) => match).map(({ text }) => text), ["bank"]);
});

test("lines that hold a text are hits of one line, counted", () => {
  const exact = { match: "exact", pattern: "retry", total: 3, files: 1, places: [{ path: "src/a.py", file: "/work/src/a.py", line: 7, column: 2, text: "x = retry()", symbol: "run" }] };
  const [group] = codeGroups(lineHits(exact), wordsOf(exact.pattern));
  assert.deepEqual([group?.title, group?.hits[0]?.label, group?.hits[0]?.place], ["a.py", "run", "7"]);
  assert.equal(linesIn(exact), "3 lines in 1 file, the first 1 shown");
  assert.equal(linesIn({ ...exact, total: 0, files: 0, places: [] }), "No line holds it.");
});
