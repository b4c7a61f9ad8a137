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
    items[1] = { index: 1, status: 422, problem: { detail: "text: too long" } };
    return { status: 207, body: { items } };
  };
  const received = await served(answer, async (url) => {
    await assert.rejects(new VarveClient(url, { apiKey: "k" }).send(Array<Message>(402).fill(MESSAGE)), (error) => {
      assert.ok(error instanceof MessagesRefusedError);
      assert.match(error.message, /refused 3 of 402 messages, first 1: text: too long/);
      assert.deepEqual(error.refused.map((each) => each.index), [1, 201, 401]);
      assert.equal(error.sent.length, 399);
      return true;
    });
  });
  assert.deepEqual(received.map((each) => (each.body as unknown[]).length), [200, 200, 2], "a refusal keeps no later batch back");
});

test("a sent message says that it was not stored", async () => {
  const position = { topic: "messages", partition: 0, offset: 7 };
  const items = [{ changed: true }, { repeated: true }, {}].map((each, index) => ({ index, status: 200, id: `m${String(index)}`, position, ...each }));
  await served(() => ({ body: { items } }), async (url) => {
    const sent = await new VarveClient(url, { apiKey: "k" }).send([MESSAGE, MESSAGE, MESSAGE]);
    assert.deepEqual(sent.map(({ changed, repeated }) => [changed, repeated]), [[true, undefined], [undefined, true], [undefined, undefined]]);
  });
});

test("a correction that changes nothing has no id", async () => {
  const unchanged = { memory_id: "m", outcome: "unchanged" };
  await served(() => ({ body: unchanged }), async (url) => {
    assert.deepEqual(await new VarveClient(url, { apiKey: "k" }).correct("m", { content: "x" }), unchanged);
  });
});

test("a caller chooses the idempotency key", async () => {
  const answer = (request: Received): Answer => ({
    body: Array.isArray(request.body) ? { items: outcomes(request) } : { id: "e", memory_id: "m", outcome: "accepted", position: {}, status: "pending" },
  });
  const received = await served(answer, async (url) => {
    const varve = new VarveClient(url, { apiKey: "k" });
    await varve.send(Array<Message>(201).fill(MESSAGE), { idempotencyKey: "k1" });
    await varve.correct("m", { content: "x" }, { idempotencyKey: "k2" });
    await varve.revert("m", { idempotencyKey: "k3" });
    await varve.editBlock("core_memory", "human", { tool: "append", text: "x" }, { idempotencyKey: "k4" });
    for (const idempotencyKey of ["", "a b", "\u00fc", "x".repeat(257)]) await assert.rejects(varve.flush("s", { idempotencyKey }), TypeError);
  });
  assert.deepEqual(received.map((each) => each.headers["idempotency-key"]), ["k1", "k1/200", "k2", "k3", "k4"]);
});

test("blocks are read, edited, undone and searched", async () => {
  const block = { entity_type: "core_memory", property: "human", user: "ann", text: "x", version: 1, characters: 1, max_characters: 9, edits: [] };
  const answer = (request: Received): Answer => {
    if (request.path.startsWith("/v1/blocks?")) return { body: { blocks: [block] } };
    if (request.method === "GET") return { body: block };
    return { body: request.path.endsWith("/search") ? { page: 2, results: [], more: false } : { id: "e", status: "applied", position: {}, block } };
  };
  const received = await served(answer, async (url) => {
    const varve = new VarveClient(url, { apiKey: "k" });
    assert.deepEqual((await varve.blocks({ user: "ann" })).map((each) => each.text), ["x"]);
    assert.equal((await varve.block("core_memory", "human", { user: "ann" })).version, 1);
    assert.equal((await varve.editBlock("core_memory", "human", { user: "ann", tool: "append", text: "x", old: undefined })).status, "applied");
    await varve.undoEdit("core_memory", "human", "e/1", { user: "ann" });
    assert.equal((await varve.searchEvents("cello", { user: "ann", page: 2 })).more, false);
  });
  assert.deepEqual(received.map(({ method, path, body }) => [method, path, body]), [
    ["GET", "/v1/blocks?user=ann", undefined],
    ["GET", "/v1/blocks/core_memory/human?user=ann", undefined],
    ["POST", "/v1/blocks/core_memory/human/edits", { user: "ann", tool: "append", text: "x" }],
    ["POST", "/v1/blocks/core_memory/human/edits/e%2F1/undo", { user: "ann" }],
    ["POST", "/v1/blocks/search", { query: "cello", user: "ann", page: 2 }],
  ]);
});

test("an application's own types are messages and options", async () => {
  interface ChatMessage {
    user: string;
    session: string;
    content: Part[];
  }
  interface Part {
    type: "text";
    text: string;
  }
  const message: ChatMessage = { user: "ann", session: "s", content: [{ type: "text", text: "x" }] };
  const absent = undefined as string | undefined;
  const received = await served((request) => ({ body: { items: outcomes(request) } }), async (url) => {
    const varve = new VarveClient(url, { apiKey: "k", timeoutMs: undefined, maxAttempts: undefined, fetch: undefined });
    await varve.send([message, { ...MESSAGE, speaker: absent, id: absent }], { signal: undefined, timeoutMs: undefined, onBatch: undefined });
  });
  assert.deepEqual(received[0]?.body, [message, MESSAGE]);
});

test("values that JSON cannot have are refused", async () => {
  const received = await served(() => ({ body: FOUND }), async (url) => {
    const varve = new VarveClient(url, { apiKey: "k" });
    const never = new Date("soon");
    await assert.rejects(varve.send([{ ...MESSAGE, event_time: never }]), /TypeError: event_time: an invalid Date cannot be sent/);
    await assert.rejects(varve.recall("x", { as_of: never }), TypeError);
    await assert.rejects(varve.recall("x", { limit: NaN }), /limit: NaN cannot be sent/);
    await assert.rejects(varve.memories({ since: never }), /since: an invalid Date cannot be sent/);
  });
  assert.deepEqual(received, []);
});

test("an address or a key that cannot be one is refused", () => {
  for (const url of ["localhost:8080", "", "ftp://service", "http://service/?a=1", "/varve"]) {
    assert.throws(() => new VarveClient(url, { apiKey: "k" }), /TypeError: .*is not the address of a service/);
  }
  assert.throws(() => new VarveClient("http://service/v1/", { apiKey: "k" }), /TypeError: .*ends with .v1/);
  for (const apiKey of ["", undefined as unknown as string]) assert.throws(() => new VarveClient("http://service", { apiKey }), /TypeError: apiKey is empty/);
  const hidden = (error: Error): boolean => error instanceof TypeError && !error.message.includes("secret");
  for (const apiKey of ["secret\nsecret", "secret secret", "sëcret"]) assert.throws(() => new VarveClient("http://service", { apiKey }), hidden);
});

test("white space around a key is left out", async () => {
  const received = await served(() => ({ body: FOUND }), async (url) => {
    await new VarveClient(url, { apiKey: " k\n" }).recall("x");
  });
  assert.equal(received[0]?.headers.authorization, "Bearer k");
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
    await assert.rejects(varve.deleteMemory(""), TypeError);
    await assert.rejects(varve.memory(undefined as unknown as string), /TypeError: undefined is not the text of a name or an id/);
    await assert.rejects(varve.entity("user_profile", "ann" as unknown as string[]), /TypeError: the key of an entity is the array of its parts/);
    // An object has no length: nothing would be sent, without a word.
    await assert.rejects(varve.send({ user: "ann" } as unknown as never[]), /TypeError: messages must be an array/);
    await assert.rejects(varve.entity("user_profile", []), /TypeError: the key of an entity has at least one part/);
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
    for await (const memory of varve.allMemories({ user: "ann & co", kinds: ["event", "summary"], order: "oldest", limit: 1 })) ids.push(memory.id);
    assert.deepEqual(ids, ["a", "b"]);
    for await (const memory of varve.allMemories()) {
      assert.equal(memory.id, "a");
      break;
    }
  });
  assert.deepEqual(received.map((each) => each.path), [
    "/v1/memories?user=ann+%26+co&kinds=event&kinds=summary&order=oldest&limit=1",
    "/v1/memories?user=ann+%26+co&kinds=event&kinds=summary&order=oldest&after=a&limit=1",
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
    await assert.rejects(new VarveClient(url, { apiKey: "k" }).status(), /ServiceProblemError: .* answered 302: a redirect, which .* not follow/);
  });
  assert.equal(received.length, 1);
});

test("a request whose connection breaks is repeated", async () => {
  const answers: Answer[] = ["drop", { body: {} }];
  const received = await served(() => answers.shift() ?? "hang", async (url) => {
    await new VarveClient(url, { apiKey: "k" }).flush("s");
  });
  assert.equal(received.length, 2);
  assert.equal(new Set(received.map((each) => each.headers["idempotency-key"])).size, 1);
});

test("a service that comes back gets the message", async () => {
  const url = await closedAddress();
  const connect = fetch;
  let attempts = 0;
  let resolveFirst: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    resolveFirst = resolve;
  });
  const counting: typeof fetch = async (...parameters) => {
    attempts += 1;
    try {
      return await connect(...parameters);
    } finally {
      resolveFirst();
    }
  };
  const flushed = new VarveClient(url, { apiKey: "k", fetch: counting }).flush("s");
  await first;
  const received = await served(() => ({ body: {} }), async () => {
    await flushed;
  }, Number(new URL(url).port));
  assert.deepEqual([received.length, attempts], [1, 2]);
});

test("a limit of retries that cannot be one is refused", () => {
  assert.throws(() => new VarveClient("http://service", { apiKey: "k", maxAttempts: 0 }), /TypeError: maxAttempts must be at least 1/);
  assert.throws(() => new VarveClient("http://service", { apiKey: "k", retryForMs: NaN }), /TypeError: retryForMs must be 0 or more/);
});

test("a timeout that no timer can have is refused", async () => {
  for (const timeoutMs of [0, -1, NaN, Infinity, 2 ** 31]) {
    assert.throws(() => new VarveClient("http://service", { apiKey: "k", timeoutMs }), /TypeError: timeoutMs must be more than 0/);
    await assert.rejects(new VarveClient("http://service", { apiKey: "k" }).status({ timeoutMs }), /TypeError: timeoutMs must be more than 0/);
  }
  const received = await served(() => ({ body: { tenant: "t", scopes: [] } }), async (url) => {
    await new VarveClient(url, { apiKey: "k", timeoutMs: 5000.5 }).status();
  });
  assert.equal(received.length, 1);
});

test("a service that is down is unreachable", async () => {
  const varve = new VarveClient(await closedAddress(), { apiKey: "k", maxAttempts: 1 });
  await assert.rejects(varve.flush("s"), (error) => {
    assert.ok(error instanceof ServiceUnreachableError);
    assert.match(error.message, /cannot be reached \(.*ECONNREFUSED/);
    return true;
  });
});

test("an attempt that takes too long is unreachable", async () => {
  const received = await served(() => "hang", async (url) => {
    const varve = new VarveClient(url, { apiKey: "k", timeoutMs: 500 });
    await assert.rejects(varve.recall("x"), /no answer within 500 ms/);
    await assert.rejects(varve.recall("x", {}, { timeoutMs: 400 }), /no answer within 400 ms/);
  });
  assert.equal(received.length, 2, "a time-out is not repeated");
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
