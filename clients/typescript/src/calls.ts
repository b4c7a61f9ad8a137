/** The requests of the client and the meaning of their responses, without any I/O. */

import { MessagesRefusedError, ServiceProblemError } from "./errors.js";
import type {
  BegunErasure,
  Block,
  BlockChange,
  ChangedMessage,
  Context,
  ContextOptions,
  Correction,
  CorrectionChanges,
  EditedBlock,
  Entity,
  EntityTimes,
  Erasure,
  FeedbackOptions,
  FoundEvents,
  HistoryPage,
  KeyStatus,
  Memory,
  MemoryFilters,
  MemoryPage,
  Message,
  PageOptions,
  RecallOptions,
  RecallResult,
  RefusedMessage,
  SentMessage,
  Session,
  Time,
} from "./models.js";
import { LONGEST_TIMER_MS } from "./retry.js";
import type { Retries } from "./retry.js";

/** Number of messages in one request. */
export const BATCH_SIZE = 200;

const OK = 200;
const LOWEST_REFUSAL = 400;
const LONGEST_KEY = 256;
/** What may stand in the header `Idempotency-Key`, and in an API key. */
const VISIBLE_ASCII = /^[\x21-\x7e]*$/;

/** One request, and how to read its response. */
export interface Call<T> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** The value to send as JSON. */
  readonly body?: unknown;
  /** Marks the repetitions of one request. */
  readonly idempotencyKey?: string;
  /** Reads the parsed JSON. Throws a `TypeError` if it has another form than expected. */
  readonly parse: (body: unknown) => T;
}

type QueryValue = Time | number | readonly string[] | null | undefined;

/** The limits of retries. Throws a `TypeError` if one cannot be a limit. */
export function retriesOf(maxAttempts: number, retryForMs: number): Retries {
  if (!(maxAttempts >= 1)) throw new TypeError(`maxAttempts must be at least 1 (1: no retry), not ${String(maxAttempts)}`);
  if (!(retryForMs >= 0)) throw new TypeError(`retryForMs must be 0 or more milliseconds, not ${String(retryForMs)}`);
  return { maxAttempts, retryForMs };
}

/** The timeout of an attempt. Throws a `TypeError` if it cannot be one: a timer with a longer one would end at once. */
export function timeoutOf(milliseconds: number): number {
  if (milliseconds > 0 && milliseconds <= LONGEST_TIMER_MS) return Math.ceil(milliseconds);
  throw new TypeError(`timeoutMs must be more than 0 and at most ${String(LONGEST_TIMER_MS)} milliseconds, not ${String(milliseconds)}`);
}

/** One call per batch of messages, in order. Each has an idempotency key, so that a repeated request duplicates no message. */
export function* sendCalls(messages: readonly Message[], key: string | undefined): Generator<Call<RefusedMessage[]>> {
  if (!Array.isArray(messages)) throw new TypeError("messages must be an array of messages: put a single one into an array");
  for (let start = 0; start < messages.length; start += BATCH_SIZE) {
    const batch = messages.slice(start, start + BATCH_SIZE);
    const keyOfBatch = key === undefined || start === 0 ? key : `${key}/${String(start)}`;
    yield { ...write("POST", "/v1/messages", (body) => readOutcomes(body, start), keyOfBatch), body: batch };
  }
}

/** The messages that are durable. Throws a `MessagesRefusedError` if others were refused. */
export function sentOf(outcomes: readonly RefusedMessage[]): SentMessage[] {
  const refused = outcomes.filter((each) => each.status !== OK);
  const sent = outcomes.filter((each) => each.status === OK).map(readSent);
  const first = refused[0];
  if (first === undefined) return sent;
  const reason = [first.problem?.["detail"], first.problem?.["title"]].find(isText) ?? "no reason given";
  const counts = `${String(refused.length)} of ${String(outcomes.length)} messages`;
  const name = isText(first.id) ? first.id : String(first.index);
  throw new MessagesRefusedError(`the service refused ${counts}, first ${name}: ${reason}`, refused, sent);
}

export function editCall(session: string, messageId: string, text: string, user: string | undefined, key: string | undefined): Call<ChangedMessage> {
  const parse = reader<ChangedMessage>("id", "position", "outcome");
  return { ...write("PUT", path("messages", session, messageId), parse, key), body: { text, user } };
}

export function deleteCall(session: string, messageId: string, user: string | undefined, key: string | undefined): Call<ChangedMessage> {
  return write("DELETE", path("messages", session, messageId) + query({ user }), reader<ChangedMessage>("id", "position", "outcome"), key);
}

export function flushCall(session: string | undefined, key: string | undefined): Call<undefined> {
  return { ...write("POST", "/v1/flush", () => undefined, key), body: { session } };
}

export function recallCall(question: string, options: RecallOptions): Call<RecallResult> {
  return { method: "POST", path: "/v1/recall", body: { ...options, query: question }, parse: reader<RecallResult>("results") };
}

export function contextCall(question: string, options: ContextOptions): Call<Context> {
  return { method: "POST", path: "/v1/context", body: { ...options, query: question }, parse: reader<Context>("context") };
}

export function feedbackCall(recallId: string, options: FeedbackOptions): Call<undefined> {
  return { method: "POST", path: "/v1/feedback", body: { ...options, recall_id: recallId }, parse: () => undefined };
}

export function memoryCall(memoryId: string): Call<Memory> {
  return read(path("memories", memoryId), reader<Memory>("id", "kind", "content"));
}

export function memoriesCall(options: MemoryFilters & PageOptions): Call<MemoryPage> {
  const { after, limit, ...filters } = options;
  return read(`/v1/memories${query({ ...filters, after, limit })}`, reader<MemoryPage>("memories", "next"));
}

export function sessionCall(session: string): Call<Session> {
  return read(path("sessions", session), reader<Session>("messages"));
}

export function deleteMemoryCall(memoryId: string, reason: string, key: string | undefined): Call<Correction> {
  return write("DELETE", path("memories", memoryId) + query({ reason: reason || undefined }), readCorrection, key);
}

export function correctCall(memoryId: string, changes: CorrectionChanges, key: string | undefined): Call<Correction> {
  return { ...write("PATCH", path("memories", memoryId), readCorrection, key), body: changes };
}

export function takeBackCall(memoryId: string, action: "invalidate" | "revert", reason: string, key: string | undefined): Call<Correction> {
  return { ...write("POST", path("memories", memoryId, action), readCorrection, key), body: { reason } };
}

export function blocksCall(user: string | undefined): Call<Block[]> {
  return read(`/v1/blocks${query({ user })}`, (body) => {
    const { blocks } = objectOf(body);
    if (!Array.isArray(blocks)) throw new TypeError("blocks: a list is missing");
    return blocks as Block[];
  });
}

export function blockCall(type: string, property: string, user: string | undefined): Call<Block> {
  return read(path("blocks", type, property) + query({ user }), reader<Block>("text", "version", "edits"));
}

export function editBlockCall(type: string, property: string, change: BlockChange, key: string | undefined): Call<EditedBlock> {
  return { ...write("POST", path("blocks", type, property, "edits"), readEdited, key), body: change };
}

export function undoEditCall(
  type: string,
  property: string,
  edit: string,
  body: { user: string | undefined; reason: string | undefined },
  key: string | undefined,
): Call<EditedBlock> {
  return { ...write("POST", path("blocks", type, property, "edits", edit, "undo"), readEdited, key), body };
}

export function searchEventsCall(text: string, user: string | undefined, page: number): Call<FoundEvents> {
  return { method: "POST", path: "/v1/blocks/search", body: { query: text, user, page }, parse: reader<FoundEvents>("results", "more") };
}

export function eraseCall(user: string, reason: string): Call<BegunErasure> {
  return { method: "DELETE", path: path("users", user) + query({ reason: reason || undefined }), parse: reader<BegunErasure>("subject") };
}

export function erasureCall(subject: string): Call<Erasure> {
  return read(path("erasures", subject), reader<Erasure>("subject", "requested_at"));
}

export function statusCall(): Call<KeyStatus> {
  return read("/v1/status", reader<KeyStatus>("tenant", "scopes"));
}

export function entityCall(type: string, key: readonly string[], times: EntityTimes): Call<Entity> {
  return read(entityPath(type, key) + query({ ...times }), reader<Entity>("id", "kind", "content"));
}

export function historyCall(type: string, key: readonly string[], options: EntityTimes & PageOptions): Call<HistoryPage> {
  return read(`${entityPath(type, key)}/history${query({ ...options })}`, reader<HistoryPage>("steps", "next"));
}

/**
 * The address of a service, without a slash at its end.
 *
 * @param url - The address, in a browser also a path of the page's own server.
 * @param page - The address of the page; undefined outside browsers.
 */
export function addressOf(url: string, page: string | undefined): string {
  const parsed = URL.canParse(url, page) ? new URL(url, page) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.search !== "" || parsed.hash !== "") {
    throw new TypeError(`${JSON.stringify(url)} is not the address of a service, such as "http://127.0.0.1:8080"`);
  }
  if (/\/v1\/*$/.test(parsed.pathname)) {
    throw new TypeError(`${JSON.stringify(url)} ends with /v1: pass the address of the service without it, the client adds the path of each request`);
  }
  return url.replace(/\/+$/, "");
}

/** The header for an API key. An error does not show the key: `fetch` would. */
export function authorizationOf(apiKey: string): string {
  const key = isText(apiKey) ? apiKey.trim() : "";
  if (key === "") throw new TypeError("apiKey is empty: pass the tenant's key (`varve dev` writes one to .varve/dev.key)");
  if (!VISIBLE_ASCII.test(key)) throw new TypeError("apiKey has a character that no key has: pass the key itself, without a name or a comment");
  return `Bearer ${key}`;
}

/** The JSON of a body. `JSON.stringify` alone would send an invalid time or number as null, which the service reads as "not given". */
export function jsonOf(body: unknown): string {
  return JSON.stringify(body, function (this: Readonly<Record<string, unknown>>, name: string, value: unknown) {
    requireValue(name, this[name]);
    return value;
  });
}

/** The error for a response with a status of 300 or more. */
export function problem(url: string, status: number, statusText: string, text: string): ServiceProblemError {
  const members = membersOf(text);
  if (status < LOWEST_REFUSAL) {
    const detail = "a redirect, which this client does not follow: use the address that the service itself has";
    return new ServiceProblemError(`${url} answered ${String(status)}: ${detail}`, { status, kind: "", detail, traceId: null, members });
  }
  const detail = [members["detail"], members["title"], text.slice(0, 200), statusText].find(isText) ?? "no reason given";
  const kind = isText(members["type"]) ? members["type"].slice(members["type"].lastIndexOf(":") + 1) : "";
  const traceId = isText(members["trace_id"]) ? members["trace_id"] : null;
  return new ServiceProblemError(`${url} answered ${String(status)}: ${detail}`, { status, kind, detail, traceId, members });
}

/** The error for a response that is not what the call expects. */
export function unreadable(url: string, status: number, cause: unknown): ServiceProblemError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new ServiceProblemError(
    `${url} answered ${String(status)} with a body that this client cannot read: ${detail}`,
    { status, kind: "", detail, traceId: null, members: {} },
    { cause },
  );
}

function read<T>(path: string, parse: (body: unknown) => T): Call<T> {
  return { method: "GET", path, parse };
}

function write<T>(method: Call<T>["method"], path: string, parse: (body: unknown) => T, key: string | undefined): Call<T> {
  if (key !== undefined && (key === "" || key.length > LONGEST_KEY || !VISIBLE_ASCII.test(key))) {
    throw new TypeError(`an idempotencyKey has 1 to ${String(LONGEST_KEY)} visible ASCII characters, not ${JSON.stringify(key)}`);
  }
  return { method, path, parse, idempotencyKey: key ?? randomKey() };
}

/** 128 random bits. `crypto.randomUUID` is missing from pages that came over plain HTTP. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const readCorrection = reader<Correction>("memory_id", "outcome");
const readEdited = reader<EditedBlock>("id", "status", "position");

/** Checks that a response is an object with the fields that callers rely on. Unknown fields are kept: the service may be newer. */
function reader<T>(...fields: (keyof T & string)[]): (body: unknown) => T {
  return (body) => {
    const given = objectOf(body);
    const missing = fields.filter((name) => !(name in given));
    if (missing.length > 0) throw new TypeError(`fields are missing: ${missing.join(", ")}`);
    return given as T;
  };
}

function readOutcomes(body: unknown, start: number): RefusedMessage[] {
  const { items } = objectOf(body);
  if (!Array.isArray(items)) throw new TypeError("items: a list is missing");
  const outcomes = items as RefusedMessage[];
  for (const each of outcomes) if (each.status === OK) readSent(each);
  return outcomes.map((each) => ({ ...each, index: start + each.index }));
}

function readSent({ id, position, repeated, changed }: RefusedMessage): SentMessage {
  if (!isText(id) || !position) throw new TypeError("items: an id or a position is missing");
  return { id, position, ...(repeated === true && { repeated }), ...(changed === true && { changed }) };
}

function objectOf(body: unknown): Record<string, unknown> {
  if (body === null || typeof body !== "object" || Array.isArray(body)) throw new TypeError("an object is missing");
  return body as Record<string, unknown>;
}

function membersOf(text: string): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function path(...parts: string[]): string {
  return ["/v1", ...parts.map(pathPart)].join("/");
}

function entityPath(type: string, key: readonly string[]): string {
  if (typeof key === "string") throw new TypeError(`the key of an entity is the array of its parts, such as [${JSON.stringify(key)}]`);
  if (key.length === 0) throw new TypeError("the key of an entity has at least one part");
  return path("entities", type, ...key);
}

/** A part of a path. URL parsers remove the parts "." and "..", also percent-encoded, and no route has an empty part. */
function pathPart(part: string): string {
  if (typeof part !== "string") throw new TypeError(`${String(part)} is not the text of a name or an id`);
  if (part === "" || part === "." || part === "..") throw new TypeError(`${JSON.stringify(part)} cannot be part of an address`);
  return encodeURIComponent(part);
}

function requireValue(name: string, value: unknown): void {
  if (value instanceof Date && Number.isNaN(value.getTime())) throw new TypeError(`${name}: an invalid Date cannot be sent`);
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${name}: ${String(value)} cannot be sent`);
}

function query(parameters: Readonly<Record<string, QueryValue>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    const values = Array.isArray(value) ? (value as readonly string[]) : [value as Exclude<QueryValue, readonly string[]>];
    for (const each of values) {
      if (each === undefined || each === null) continue;
      requireValue(name, each);
      given.append(name, each instanceof Date ? each.toISOString() : String(each));
    }
  }
  return given.size > 0 ? `?${given.toString()}` : "";
}
