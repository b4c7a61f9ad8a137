/** The waits before a retry. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { retryAfterMs, retryWaitMs } from "../dist/esm/retry.js";

const NOW = new Date("2024-05-06T12:00:00Z");

test("Retry-After is read as seconds or date", () => {
  const later = new Date(NOW.getTime() + 90_000).toUTCString();
  const read = ["7", later, "Mon, 06 May 2024 11:00:00 GMT", "", null, "soon", "nan", "-5"].map((each) => retryAfterMs(each, NOW));
  assert.deepEqual(read, [7000, 90_000, 0, null, null, null, null, null]);
});

test("waits without Retry-After grow with jitter", () => {
  const waits = [1, 2, 3, 4, 5].map((number) => [0, 1].map((random) => retryWaitMs({ status: 503, retryAfter: null, number }, 5, NOW, random)));
  assert.deepEqual(waits, [[500, 1500], [1000, 3000], [2000, 6000], [4000, 12_000], [null, null]]);
});

test("a failed connection is repeated like a temporary refusal", () => {
  const waits = [1, 5].map((number) => retryWaitMs({ status: null, retryAfter: null, number }, 5, NOW, 0));
  assert.deepEqual(waits, [500, null]);
});
