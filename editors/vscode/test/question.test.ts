import assert from "node:assert/strict";
import { test } from "node:test";
import { asCodeQuestion, globOf } from "../src/search/question.ts";

test("filters that are not set are not sent", () => {
  assert.deepEqual(asCodeQuestion({ query: "x", subject: "code", language: "", folder: " " }), { query: "x" });
  assert.deepEqual(asCodeQuestion({ query: "x", subject: "type", language: "go", folder: "src/" }), { query: "x", kind: "type", language: "go", path_glob: "src/**" });
});

test("a folder means all in it, a file itself, and a pattern is one already", () => {
  assert.deepEqual(["src", "./src/", "/src//", "src\\net", "a.py", "src/**/*.ts", ".", "", ".github"].map(globOf), [
    "src/**", "src/**", "src/**", "src/net/**", "a.py", "src/**/*.ts", "", "", ".github/**",
  ]);
});
