import assert from "node:assert/strict";
import { test } from "node:test";
import { restarts } from "../src/server/restarts.ts";

test("a server that ends again and again is started later and later, then no more", () => {
  const all = restarts();
  assert.deepEqual([0, 1, 2, 3, 4].map((second) => all.next(second * 1000)), [0, 1000, 4000, 15_000, undefined]);
});

test("one that ran for a while, or was started by hand, counts as sound again", () => {
  const all = restarts();
  all.next(0);
  all.next(1000);
  assert.equal(all.next(1_000_000), 0);
  all.next(1_000_001);
  all.reset();
  assert.equal(all.next(1_000_002), 0);
});
