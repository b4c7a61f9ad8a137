/** The built package, imported as an ES module, against a real HTTP server. */

import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { MessagesRefusedError, ServiceProblemError, ServiceUnreachableError, VarveClient, VarveClientError } from "varve-client";
import type { Message } from "varve-client";

import { served } from "./server.mjs";
import type { Answer, Received } from "./server.mjs";

const EVENT = { id: "m", type: "note", kind: "event", content: "Ann moved to Oslo", event_time: "2024-03-02T12:00:00Z", evidence: ["m1"] };
const FOUND = { results: [{ ...EVENT, score: 0.5 }], entities: [], newer_field: 7 };
const MESSAGE: Message = { user: "ann", session: "s", text: "x" };

function refusing(times: number, status: number, retryAfter: string): () => Answer {
  let requests = 0;
  return () => {
    requests += 1;
    if (requests > times) return { body: FOUND };
    const problem = { type: "urn:varve:problem:rate-limited", detail: "10 recalls a second are used up", trace_id: "t1" };
    return { status, headers: { "Retry-After": retryAfter }, body: problem };
  };
}

function outcomes(request: Received): { index: number; status: number; id: string; position: object }[] {
  const position = { topic: "messages", partition: 0, offset: 7 };
  return (request.body as unknown[]).map((_, index) => ({ index, status: 200, id: `m${String(index)}`, position }));
}

/** An address at which nothing listens. */
async function closedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${String(port)}`;
}

for (const [status, retryAfter] of [[429, "0"], [503, "0"], [409, "0"]] as const) {
  test(`a temporary ${String(status)} is retried`, async () => {
    const received = await served(refusing(2, status, retryAfter), async (url) => {
      const found = await new VarveClient(url, { apiKey: "k" }).recall("x");
      assert.deepEqual(found.results.map((each) => each.id), ["m"]);
    });
    assert.equal(received.length, 3);
    assert.equal(received[0]?.headers.authorization, "Bearer k");
  });
}

for (const [times, status, retryAfter, sent] of [[99, 429, "0", 5], [1, 429, "3600", 1], [1, 507, "0", 1]] as const) {
  test(`a lasting ${String(status)} with Retry-After ${retryAfter} is thrown`, async () => {
    const received = await served(refusing(times, status, retryAfter), async (url) => {
      await assert.rejects(new VarveClient(url, { apiKey: "k" }).recall("x"), (error) => {
        assert.ok(error instanceof ServiceProblemError && error instanceof VarveClientError);
        assert.match(error.message, new RegExp(`answered ${String(status)}: 10 recalls a second are used up`));
        assert.deepEqual([error.status, error.kind, error.traceId, error.name], [status, "rate-limited", "t1", "ServiceProblemError"]);
        return true;
      });
    });
    assert.equal(received.length, sent);
  });
}

test("one attempt is never repeated", async () => {
  const received = await served(refusing(1, 429, "0"), async (url) => {
    await assert.rejects(new VarveClient(url, { apiKey: "k", maxAttempts: 1 }).recall("x"), ServiceProblemError);
  });
  assert.equal(received.length, 1);
});

test("a conflict without Retry-After is not retried", async () => {
  const received = await served(() => ({ status: 409, body: { detail: "it does not fit" } }), async (url) => {
    await assert.rejects(new VarveClient(url, { apiKey: "k" }).flush(), /answered 409: it does not fit/);
  });
  assert.equal(received.length, 1);
});

test("retries of a batch share one idempotency key", async () => {
  const statuses = [503, 409, 200, 429, 200];
  const batches: number[] = [];
  const answer = (request: Received): Answer => {
    const status = statuses.shift() ?? 500;
    return status === 200 ? { body: { items: outcomes(request) } } : { status, headers: { "Retry-After": "0" }, body: { detail: "in work" } };
  };
  const received = await served(answer, async (url) => {
    const sent = await new VarveClient(url, { apiKey: "k" }).send(Array<Message>(201).fill(MESSAGE), {
      onBatch: (count) => batches.push(count),
    });
    assert.equal(sent.length, 201);
    assert.deepEqual(sent[0], { id: "m0", position: { topic: "messages", partition: 0, offset: 7 } });
  });
  assert.deepEqual(batches, [200, 1]);
  const keys = received.map((each) => each.headers["idempotency-key"]);
  assert.deepEqual(received.map((each) => (each.body as unknown[]).length), [200, 200, 200, 1, 1]);
  assert.deepEqual([new Set(keys).size, new Set(keys.slice(0, 3)).size, new Set(keys.slice(3)).size], [2, 1, 1]);
});

test("refused messages are named by their index", async () => {
  const answer = (request: Received): Answer => {
    const items: object[] = outcomes(request);
    if (items.length < 200) items[0] = { index: 0, status: 422, problem: { detail: "text: too long" } };
    return { status: items.length < 200 ? 207 : 200, body: { items } };
  };
  await served(answer, async (url) => {
    await assert.rejects(new VarveClient(url, { apiKey: "k" }).send(Array<Message>(202).fill(MESSAGE)), (error) => {
      assert.ok(error instanceof MessagesRefusedError);
      assert.match(error.message, /refused 1 of 2 messages, first 200: text: too long/);
      assert.deepEqual(error.refused.map((each) => each.index), [200]);
      return true;
    });
  });
});

test("options that are undefined are not sent, and times may be dates", async () => {
  const received = await served(() => ({ body: FOUND }), async (url) => {
    const found = await new VarveClient(`${url}/`, { apiKey: "k" }).recall("x", {
      user: "ann",
      limit: undefined,
      as_of: new Date("2024-05-06T00:00:00Z"),
    });
    assert.equal((found as unknown as Record<string, unknown>)["newer_field"], 7);
  });
  assert.equal(received[0]?.path, "/v1/recall");
  assert.deepEqual(received[0].body, { query: "x", user: "ann", as_of: "2024-05-06T00:00:00.000Z" });
});

test("names are encoded in addresses", async () => {
  const received = await served(() => ({ body: { subject: "5f", messages: [], location: "", resumable: true } }), async (url) => {
    const varve = new VarveClient(url, { apiKey: "k" });
    await varve.session("a/b ü?");
    await varve.eraseUser("ann/1 ?", { reason: "ticket 7" });
    await assert.rejects(varve.session(".."), TypeError);
  });
  assert.deepEqual(received.map((each) => [each.method, each.path]), [
    ["GET", "/v1/sessions/a%2Fb%20%C3%BC%3F"],
    ["DELETE", "/v1/users/ann%2F1%20%3F?reason=ticket+7"],
  ]);
});

test("iterators follow the pages lazily", async () => {
  const answer = (request: Received): Answer => {
    const after = new URL(request.path, "http://x").searchParams.get("after");
    return { body: { memories: [{ ...EVENT, id: after === null ? "a" : "b" }], next: after === null ? "a" : null } };
  };
  const received = await served(answer, async (url) => {
    const varve = new VarveClient(url, { apiKey: "k" });
    const ids: string[] = [];
    for await (const memory of varve.allMemories({ user: "ann & co", kinds: ["event", "summary"], limit: 1 })) ids.push(memory.id);
    assert.deepEqual(ids, ["a", "b"]);
    for await (const memory of varve.allMemories()) {
      assert.equal(memory.id, "a");
      break;
    }
  });
  assert.deepEqual(received.map((each) => each.path), [
    "/v1/memories?user=ann+%26+co&kind=event&kind=summary&limit=1",
    "/v1/memories?user=ann+%26+co&kind=event&kind=summary&after=a&limit=1",
    "/v1/memories",
  ]);
});

for (const [what, body] of [["HTML", "<html>gateway</html>"], ["a list", "[]"], ["another object", '{"a": 1}']] as const) {
  test(`a body that is ${what} is a problem`, async () => {
    await served(() => ({ body }), async (url) => {
      await assert.rejects(new VarveClient(url, { apiKey: "k" }).recall("x"), (error) => {
        assert.ok(error instanceof ServiceProblemError);
        assert.match(error.message, /cannot read/);
        return true;
      });
    });
  });
}

test("a redirect is not followed", async () => {
  const received = await served(() => ({ status: 302, headers: { Location: "/elsewhere" } }), async (url) => {
    await assert.rejects(new VarveClient(url, { apiKey: "k" }).status(), ServiceUnreachableError);
  });
  assert.equal(received.length, 1);
});

test("a service that is down is unreachable", async () => {
  const varve = new VarveClient(await closedAddress(), { apiKey: "k" });
  await assert.rejects(varve.flush("s"), (error) => {
    assert.ok(error instanceof ServiceUnreachableError);
    assert.match(error.message, /cannot be reached \(.*ECONNREFUSED/);
    return true;
  });
});

test("an attempt that takes too long is unreachable", async () => {
  await served(() => "hang", async (url) => {
    const varve = new VarveClient(url, { apiKey: "k", timeoutMs: 50 });
    await assert.rejects(varve.recall("x"), /no answer within 50 ms/);
    await assert.rejects(varve.recall("x", {}, { timeoutMs: 20 }), /no answer within 20 ms/);
  });
});

test("a signal aborts a request", async () => {
  const stop = new AbortController();
  await served(() => {
    stop.abort(new Error("the page was left"));
    return "hang";
  }, async (url) => {
    await assert.rejects(new VarveClient(url, { apiKey: "k" }).recall("x", {}, { signal: stop.signal }), /the page was left/);
  });
});

test("a signal aborts the wait for a retry", async () => {
  const stop = new AbortController();
  let requests = 0;
  const refuse: typeof fetch = () => {
    requests += 1;
    setImmediate(() => {
      stop.abort(new Error("enough"));
    });
    return Promise.resolve(new Response("{}", { status: 429, headers: { "Retry-After": "60" } }));
  };
  await assert.rejects(new VarveClient("http://service", { apiKey: "k", fetch: refuse }).recall("x", {}, { signal: stop.signal }), /enough/);
  assert.equal(requests, 1);
});
