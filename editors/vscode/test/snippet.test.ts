import assert from "node:assert/strict";
import { test } from "node:test";
import { marked, snippet, textOf, wordsOf } from "../src/search/snippet.ts";

const matches = (text: string, query: string): string[] => marked(text, wordsOf(query)).filter(({ match }) => match).map(({ text: word }) => word);

test("words are matched by their stems, in prose and in names", () => {
  assert.deepEqual(matches("retryDelay = signed_cookies(RETRIES)", "where are retries of a signing cookie delayed"), ["retry", "Delay", "signed", "cookies", "RETRIES"]);
  assert.deepEqual(matches("def stop(): stopped", "stopping"), ["stop", "stopped"]);
  assert.deepEqual(matches("class HTTPServer: http", "http server"), ["HTTP", "Server", "http"]);
});

test("everyday words and short ones are not marked", () => {
  assert.deepEqual(matches("for the id in a", "where is the id for a thing"), []);
});

test("the parts of a line are the line", () => {
  for (const line of ["", "  é retry", "retry", "naïve_Retry42 retries!", "日本語 retry"]) {
    assert.equal(marked(line, wordsOf("retry 42 日本語")).map(({ text }) => text).join(""), line);
  }
});

test("a snippet is the first line and those that answer, in their order, without what all are indented by", () => {
  const text = "    def pay(self):\n        log()\n\n        a = 1\n        b = 2\n        retry(a)\n        return bank\n";
  const lines = snippet(text, wordsOf("retry at the bank")).map((parts) => parts.map((part) => part.text).join(""));
  assert.deepEqual(lines, ["def pay(self):", "    retry(a)", "    return bank"]);
  const unanswered = snippet("def pay(self):\n    log()\n    }\n    a = 1\n    b = 2\n", wordsOf("x")).map((parts) => parts.map((part) => part.text).join(""));
  assert.deepEqual(unanswered, ["def pay(self):", "    log()", "    a = 1", "    b = 2"]);
  assert.deepEqual(snippet("\n \n", wordsOf("x")), []);
});

test("an exact text is marked as a whole, whatever its words are elsewhere", () => {
  const found = (text: string, isCaseIgnored: boolean, isWhole = false): string[] => marked(text, textOf(isWhole ? "address" : "parse_address(", { isCaseIgnored, isWhole })).filter(({ match }) => match).map(({ text: word }) => word);
  assert.deepEqual(found("address = parse_address(a) or Parse_Address(b)", false), ["parse_address("]);
  assert.deepEqual(found("address = parse_address(a) or Parse_Address(b)", true), ["parse_address(", "Parse_Address("]);
  assert.deepEqual(found("address = parse_address(addresses, Address)", true, true), ["address", "Address"]);
});
