import assert from "node:assert/strict";
import { test } from "node:test";
import { type Inspected, explicitSettings } from "../src/server/settings.ts";

test("only what somebody set is told, the narrowest scope first", () => {
  const set: Record<string, Inspected> = {
    "search.code_k": { globalValue: 5, workspaceValue: 20 },
    "hover.enabled": { globalValue: false },
    "index.watch": {},
  };
  const keys = ["path", "search.code_k", "hover.enabled", "index.watch", "index.exclude"];
  assert.deepEqual(explicitSettings(keys, (key) => set[key]), { search: { code_k: 20 }, hover: { enabled: false } });
});
