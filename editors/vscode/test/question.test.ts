import assert from "node:assert/strict";
import { test } from "node:test";
import { asCodeQuestion, placeOf } from "../src/search/question.ts";

const one = { folders: [{ name: "shop", path: "/work/shop" }], roots: ["/work/shop"] };
const glob = (folder: string, around = one): string | undefined => placeOf(folder, around).path_glob;

test("filters that are not set are not sent", () => {
  assert.deepEqual(asCodeQuestion({ query: "x", subject: "code", language: "", folder: " " }, one), { query: "x" });
  const all = asCodeQuestion({ query: "x", subject: "type", language: "go", folder: "src/" }, one);
  assert.deepEqual(all, { query: "x", kind: "type", language: "go", path_glob: "src/**" });
});

test("an exact text says whether case and whole words count; a question by meaning says nothing of them", () => {
  const asked = { query: "x", subject: "code", language: "", folder: "", matchCase: true, wholeWords: false } as const;
  assert.deepEqual(asCodeQuestion({ ...asked, match: "exact" }, one), { query: "x", match: "exact", ignore_case: false, whole_words: false });
  assert.deepEqual(asCodeQuestion({ ...asked, match: "auto" }, one), { query: "x" });
});

test("a folder means all in it, a file itself, and a pattern is one already", () => {
  assert.deepEqual(["src", "./src/", "/src//", "src\\net", "a.py", "src/**/*.ts", ".", "", ".github"].map((each) => glob(each)), [
    "src/**", "src/**", "src/**", "src/net/**", "a.py", "src/**/*.ts", undefined, undefined, ".github/**",
  ]);
});

test("a folder of a larger project is meant by its path there", () => {
  const part = { folders: [{ name: "web", path: "/work/mono/web" }], roots: ["/work/mono"] };
  assert.deepEqual(["src", "*.ts", "src/*.ts"].map((each) => glob(each, part)), ["web/src/**", "web/**/*.ts", "web/src/*.ts"]);
  assert.equal(glob("", part), undefined);
});

test("with several folders the first part of a path says which one", () => {
  const two = { folders: [...one.folders, { name: "web", path: "/work/mono/web" }], roots: ["/work/shop", "/work/mono"] };
  assert.deepEqual(placeOf("shop/src", two), { path_glob: "src/**", project: "/work/shop" });
  assert.deepEqual(placeOf("shop", two), { project: "/work/shop" });
  assert.deepEqual(placeOf("web", two), { path_glob: "web/**", project: "/work/mono" });
  assert.deepEqual(placeOf("src", two), { path_glob: "src/**" });
});
