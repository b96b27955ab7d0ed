import assert from "node:assert/strict";
import { test } from "node:test";
import { byFile, shown } from "../src/search/items.ts";
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
  const groups = byFile([hit, other, above]);
  assert.deepEqual(groups.map((group) => [group.path, group.hits.map((each) => each.id)]), [["src/a.py", ["3", "1"]], ["src/b.py", ["2"]]]);
});
