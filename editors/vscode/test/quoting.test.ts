import assert from "node:assert/strict";
import { test } from "node:test";
import { messageOf } from "../src/errors.ts";
import { titleOf } from "../src/memories/groups.ts";
import { fromMarkdown, toMarkdown } from "../src/memories/markdown.ts";
import { plain } from "../src/quoting.ts";

const LINK = "[x](command:workbench.action.quit)";

test("a stranger's text makes no link, no icon and no second line", () => {
  assert.equal(plain(`${LINK} $(alert)\n\u001b[31mred \u202eturned\u2028on`), "[x] (command:workbench.action.quit) $ (alert) [31mred turned on");
  assert.equal(plain("\u{1f468}\u200d\u{1f469} is one"), "\u{1f468}\u200d\u{1f469} is one");
  assert.equal(plain("[x]\u200b(command:a)"), "[x] (command:a)");
});

test("titles of memories and messages of errors are plain", () => {
  assert.doesNotMatch(titleOf({ content: `${LINK}\nmore` }), /\]\(/);
  assert.doesNotMatch(messageOf(new Error(`there is no memory ${LINK}`)), /\]\(/);
});

test("no name in a memory's front matter says more than a name", () => {
  const anchor = { path: "a\nscope: global\n---\n.py", line: 1, symbol: "f", state: "fresh" } as const;
  const memory = { content: "Prices are net.", scope: "project", metadata: { tags: ["a\nscope: global"] }, anchor };
  const draft = fromMarkdown(toMarkdown(memory));
  assert.deepEqual([draft.scope, draft.content, draft.tags], ["project", "Prices are net.", ["a\nscope: global"]]);
});
