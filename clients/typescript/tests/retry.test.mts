/** The waits before a retry. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { retryAfterMs, retryWaitMs } from "../dist/esm/retry.js";

const RETRIES = { maxAttempts: 7, retryForMs: 1_000_000 };
const NOW = new Date("2024-05-06T12:00:00Z");

test("Retry-After is read as seconds or date", () => {
  const later = new Date(NOW.getTime() + 90_000).toUTCString();
  const read = ["7", later, "Mon, 06 May 2024 11:00:00 GMT", "", null, "soon", "nan", "-5"].map((each) => retryAfterMs(each, NOW));
  assert.deepEqual(read, [7000, 90_000, 0, null, null, null, null, null]);
});

test("waits without Retry-After grow with jitter", () => {
  const waits = [0, 1].map((random) =>
    [1, 2, 3, 4, 5, 6, 7].map((number) => retryWaitMs({ status: null, retryAfter: null, number }, RETRIES, 0, NOW, random)),
  );
  assert.deepEqual(waits, [
    [500, 1000, 2000, 4000, 8000, 10_000, null],
    [1000, 2000, 4000, 8000, 16_000, 20_000, null],
  ]);
});

test("temporary refusals and failed connections are repeated", () => {
  const statuses = [null, 429, 502, 503, 504, 500, 409, 404];
  const repeated = statuses.filter((status) => retryWaitMs({ status, retryAfter: null, number: 1 }, RETRIES, 0, NOW, 0) !== null);
  assert.deepEqual(repeated, [null, 429, 502, 503, 504]);
});

test("no attempt begins after the deadline", () => {
  const waits = [28_000, 28_001].map((elapsed) =>
    retryWaitMs({ status: 503, retryAfter: "2", number: 1 }, { maxAttempts: 5, retryForMs: 30_000 }, elapsed, NOW, 0),
  );
  assert.deepEqual(waits, [2000, null]);
  const forever = { maxAttempts: 5, retryForMs: Infinity };
  assert.equal(retryWaitMs({ status: 503, retryAfter: "9999999", number: 1 }, forever, 0, NOW, 0), null, "no timer takes so long");
});
