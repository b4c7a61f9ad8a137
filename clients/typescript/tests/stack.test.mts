/** Both builds of the package against a running service, if VARVE_CLIENT__URL and VARVE_CLIENT__API_KEY are set. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

import * as esm from "varve-client";
import type { Memory, VarveClient } from "varve-client";

const URL_OF_SERVICE = process.env["VARVE_CLIENT__URL"];
const API_KEY = process.env["VARVE_CLIENT__API_KEY"] ?? "";
const DEADLINE_MS = 120_000;
const PAUSE_MS = 200;

const builds: readonly (readonly [string, typeof esm])[] = [
  ["the ES module", esm],
  ["the CommonJS module", createRequire(import.meta.url)("varve-client") as typeof esm],
];

/** Asks until there is a result. */
async function eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const found = await ask();
    if (found !== undefined) return found;
    assert.ok(Date.now() < end, `${what}: not within ${String(DEADLINE_MS)} ms`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function eventsOf(varve: VarveClient, user: string): Promise<Memory[]> {
  const found: Memory[] = [];
  for await (const memory of varve.allMemories({ user, kinds: ["event"], limit: 1 })) found.push(memory);
  return found;
}

for (const [name, build] of builds) {
  const user = `ann of ${name}`;
  const session = `talk/${name}`;

  test(`${name} calls every method of a service`, { skip: URL_OF_SERVICE === undefined && "no service" }, async () => {
    const varve = new build.VarveClient(URL_OF_SERVICE ?? "", { apiKey: API_KEY });
    const status = await varve.status();
    assert.ok(status.scopes.length > 0);

    const sent = await varve.send([
      { user, session, id: "m1", speaker: "Ann", text: "I moved to Bergen last week.", event_time: new Date("2024-05-02T10:00:00Z") },
      { user, session, id: "m2", speaker: "Ann", text: "My cat is called Pixel." },
      { user, session, id: "m3", speaker: "Ann", text: "I play the cello." },
    ]);
    assert.deepEqual(sent.map((each) => each.id), ["m1", "m2", "m3"]);
    const newest = sent[2];
    assert.ok(newest !== undefined);
    const tail = await eventually("the tail of the session", async () => {
      const found = await varve.session(session);
      return found.messages.length === 3 ? found : undefined;
    });
    assert.equal(tail.messages[1]?.message["text"], "My cat is called Pixel.");

    await varve.flush(session);
    await eventually("three events", async () => ((await eventsOf(varve, user)).length === 3 ? true : undefined));
    const found = await varve.recall("What is the cat called?", { user, session, after: newest });
    assert.equal(found.after?.reached, true);
    const [again] = await varve.send([{ user, session, id: "m1", text: "I moved to Lyon." }]);
    assert.equal(again?.changed, true);
    assert.equal((await varve.recall("x", { user, session, after: again })).after?.reached, true);
    const cat = found.results.find((each) => each.content.includes("Pixel"));
    assert.ok(cat !== undefined);
    await varve.feedback(found.recall_id, { useful: [cat.id], user });
    assert.deepEqual(cat.evidence, ["m2"]);
    assert.equal((await varve.memory(cat.id)).content, cat.content);
    const context = await varve.context("What is the cat called?", { user, tokens: 500 });
    assert.match(context.context, /Pixel/);
    assert.ok(context.citations.some((each) => each.id === cat.id));

    const toPixie = { content: "My cat is called Pixie.", reason: "misheard" };
    const corrected = await varve.correct(cat.id, toPixie);
    assert.deepEqual([corrected.memory_id, corrected.outcome], [cat.id, "accepted"]);
    assert.deepEqual(await varve.correct(cat.id, toPixie), { memory_id: cat.id, outcome: "unchanged" });
    const contentIs = (text: string) => async (): Promise<true | undefined> => ((await varve.memory(cat.id)).content === text ? true : undefined);
    await eventually("the corrected content", contentIs("My cat is called Pixie."));
    await varve.revert(cat.id);
    await eventually("the earlier content", contentIs(cat.content));
    await assert.rejects(varve.revert(cat.id), { status: 409, kind: "nothing-to-revert" });

    const ids = new Map((await eventsOf(varve, user)).map((each) => [each.evidence[0], each.id]));
    await varve.invalidate(ids.get("m3") ?? "", { reason: "a joke" });
    await varve.deleteMemory(ids.get("m1") ?? "", { reason: "asked for" });
    await eventually("one event less each", async () => ((await eventsOf(varve, user)).length === 1 ? true : undefined));

    // While an event is left: an entity ends with its last one.
    const profile = await eventually("an entity with two steps", async () => {
      const [entity] = (await varve.memories({ user, kinds: ["entity"] })).memories;
      if (entity === undefined) return undefined;
      const steps: string[] = [];
      for await (const step of varve.wholeEntityHistory(entity.type, [user], { limit: 1 })) steps.push(step.kind);
      return steps.length > 1 ? entity : undefined;
    });
    assert.equal((await varve.entity(profile.type, [user], { known_at: new Date() })).id, profile.id);

    const edited = await varve.editMessage(session, "m2", "My dog is called Rex.", { user });
    assert.ok(["edited", "pending"].includes(edited.outcome));
    assert.equal((await varve.recall("x", { user, session, after: edited })).after?.id, "m2");
    await eventually("the edited event", async () => ((await eventsOf(varve, user)).some((each) => each.content.includes("Rex")) ? true : undefined));
    await varve.deleteMessage(session, "m2", { user });
    await eventually("the deleted message", async () => ((await eventsOf(varve, user)).some((each) => each.content.includes("Rex")) ? undefined : true));

    assert.deepEqual(await varve.blocks({ user }), [], "the schema has none");
    assert.equal((await varve.searchEvents("cat", { user })).page, 0);

    const begun = await varve.eraseUser(user, { reason: "ticket 7" });
    const receipt = await eventually("the receipt", async () => {
      const erasure = await varve.erasure(begun.subject);
      return erasure.finished_at === null ? undefined : erasure;
    });
    assert.deepEqual(receipt.remains, []);
    assert.deepEqual(await eventsOf(varve, user), []);
  });

  test(`${name} reports refusals of a service`, { skip: URL_OF_SERVICE === undefined && "no service" }, async () => {
    await assert.rejects(new build.VarveClient(URL_OF_SERVICE ?? "", { apiKey: "wrong" }).status(), (error) => {
      assert.ok(error instanceof build.ServiceProblemError);
      assert.equal(error.status, 401);
      return true;
    });
    const varve = new build.VarveClient(URL_OF_SERVICE ?? "", { apiKey: API_KEY });
    await assert.rejects(varve.send([{ user, session, text: "good" }, { user, session, text: "" }]), build.VarveClientError);
    await assert.rejects(varve.memory("00000000-0000-5000-8000-000000000000"), /answered 404/);
  });
}
