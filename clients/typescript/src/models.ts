/** Requests and responses of the service, under their names in the Python client. Fields keep the names that they have on the wire. */

import type { components } from "./schema.js";

type Schemas = components["schemas"];

/** A time: a `Date`, or a string in ISO 8601 with a time zone. */
export type Time = Date | string;

/** The same fields; those named `Keys` also accept a `Date`. */
type WithTimes<T, Keys extends keyof T> = Omit<T, Keys> & { [Key in Keys]?: Time | Extract<T[Key], null> | undefined };

/** Fields that may be left out may also be undefined: these are not sent. */
type Undefinable<T> = { [Key in keyof T]: object extends Pick<T, Key> ? T[Key] | undefined : T[Key] };

/** The same fields; those named `Keys` accept any objects. The fields of an interface have no index signature, as a JSON value has. */
type WithObjects<T, Keys extends keyof T> = Omit<T, Keys> & { [Key in Keys]?: Extract<T[Key], string | null> | object | undefined };

/** The place of a record in Kafka. */
export type Position = Schemas["Position"];

/**
 * A message to send. Messages of OpenAI's and Anthropic's APIs are accepted unchanged, with `user` and `session` added; hence the
 * further fields.
 */
export type Message = Undefinable<
  WithObjects<WithTimes<Omit<Schemas["MessageBody"], "role">, "event_time">, "content" | "text" | "tool_call" | "tool_calls" | "tool_results">
> & {
  /** Who wrote it. Default: `user`. */
  role?: Schemas["MessageBody"]["role"] | "function" | undefined;
  // `unknown` would refuse objects whose type is an interface.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
} & Readonly<Record<string, any>>;

/** A message that is durable. Pass it as `after` to a recall that must see it. */
export interface SentMessage {
  readonly id: string;
  readonly position: Position;
  /** The id was sent within a day, with the same content: the message is stored once. */
  readonly repeated?: boolean;
  /** The id was sent within a day, with another text, speaker or other field: this was not stored. Change the text with `editMessage`. */
  readonly changed?: boolean;
}

/** A change of a message that is durable. An `outcome` of `pending` is applied when the service reaches the position. */
export type ChangedMessage = Schemas["MessageChanged"];

/** An event, an entity, a summary or a segment. */
export type Memory = Schemas["MemoryView"];

/** A memory that a recall found. */
export type RecalledMemory = Schemas["RecalledMemory"];

/** The answer to a recall. An entity replaces the events that say the same: read `results` and `entities` together. */
export type RecallResult = Schemas["Recalled"];

/** Which memories of a recall helped, and which did not. */
export type FeedbackOptions = Undefinable<Partial<Omit<Schemas["FeedbackBody"], "recall_id">>>;

/** Optional fields of a recall. */
export type RecallOptions = Undefinable<Partial<WithTimes<Omit<Schemas["RecallBody"], "query">, "as_of" | "since" | "until">>>;

/** A block of text for a prompt, with the memories that it cites. */
export type Context = Schemas["Context"];

/** Optional fields of a context. */
export type ContextOptions = Undefinable<Partial<WithTimes<Omit<Schemas["ContextBody"], "query">, "as_of" | "since" | "until">>>;

/** The memory or message that a mark in a context refers to. */
export type Citation = Schemas["Citation"];

/** The newest messages of a session, oldest first. */
export type Session = Schemas["Session"];

/** A page of memories. `next` is the `after` of the next page; null on the last one. */
export type MemoryPage = Schemas["MemoryPage"];

/** Conditions of a list of memories. Invalidated and expired memories are never listed. */
export interface MemoryFilters {
  /** Only this user's memories. Default: all users that the key may access. */
  user?: string | undefined;
  /** Only memories of this session. Default: any. */
  session?: string | undefined;
  /** Only memories of these kinds. Default: any. */
  kinds?: readonly Memory["kind"][] | undefined;
  /** Only memories of these event or entity types. Default: any. */
  types?: readonly string[] | undefined;
  /** Only memories that may have happened at this time or later. Default: no limit. */
  since?: Time | undefined;
  /** Only memories that may have happened before this time. Default: no limit. */
  until?: Time | undefined;
  /** By id, or by the time of the event: the newest or the oldest first. Default: by id. */
  order?: "id" | "newest" | "oldest" | undefined;
}

/** The position in a list. */
export interface PageOptions {
  /** The `next` of the previous page. Default: the first page. */
  after?: string | undefined;
  /** Number of items per page, up to 200. Default: 50. */
  limit?: number | undefined;
}

/** A correction that is durable, and takes effect when the stages have processed it; or, if `outcome` is `unchanged`, one that would change nothing. */
export type Correction = Schemas["Corrected"] & {
  /** For a deletion, an invalidation or a replaced content: what still has the content of the event. */
  remaining?: Schemas["RemainingContent"][] | null;
};

/** The parts of a memory to replace. */
export type CorrectionChanges = Undefinable<Partial<WithTimes<Schemas["CorrectionBody"], "event_time">>>;

/** A block of text that agents edit with memory tools, with its newest edits. */
export type Block = Schemas["BlockRead"];

/** One edit of a block. */
export type BlockEdit = Schemas["BlockEdit"];

/** A call of a memory tool. */
export type BlockChange = Undefinable<Schemas["BlockEditBody"]>;

/**
 * An edit that is durable. With the status `pending` the service applies it later, and the block's `edits` have its result. The answer to
 * a repeated call has no `block`.
 */
export type EditedBlock = Schemas["BlockEdited"];

/** A page of events, nearest first. */
export type FoundEvents = Schemas["FoundMemories"];

/** An erasure of a user that has begun: pass its `subject` to `erasure`. */
export type BegunErasure = Schemas["UserErasure"];

/** An erasure of a user, and its receipt once `finished_at` is set. */
export type Erasure = Schemas["ErasureView"];

/** The tenant, the user and the scopes of an API key. */
export type KeyStatus = Schemas["KeyStatus"];

/** The state of an entity that is wanted. */
export interface EntityTimes {
  /** Its state at that time, by the times of the events. Default: now. */
  as_of?: Time | undefined;
  /** Its state as far as it was known at that time. Default: now. */
  known_at?: Time | undefined;
}

/** One entity. `degraded` names what is missing from it. */
export type Entity = Schemas["EntityView"];

/** One change of one property of an entity. */
export type HistoryChange = Schemas["HistoryChange"];

/** One step in the history of an entity. */
export type HistoryEntry = Schemas["HistoryStep"];

/** A page of an entity's history, oldest entry first. `complete` is false if older entries are no longer kept. */
export type HistoryPage = Schemas["History"];

/** A message of a batch that the service refused: its index in the messages that were sent, the HTTP status, and the problem. */
export type RefusedMessage = Schemas["Outcome"];

/** The change of a memory in the request of a webhook. Keep the largest `offset` of each memory, and ignore smaller ones. */
export interface WebhookChange {
  /** The id of the memory. */
  readonly id: string;
  readonly position: { readonly partition: number; readonly offset: number };
}

/** A memory that was written. */
export interface WebhookUpsert extends WebhookChange {
  readonly kind: Memory["kind"];
  readonly type: string;
  readonly version: number;
  /** The memory is not valid from this time on. It is past if the memory was invalidated. */
  readonly expires_at?: string;
  /** Missing if the webhook sends no content, or the content was too large. */
  readonly memory?: Memory;
  readonly content_too_large?: true;
}

/** The body of a webhook's request, once its signature is verified. */
export type WebhookEvent =
  | { readonly type: "memory.upserted"; readonly timestamp: string; readonly data: WebhookUpsert }
  | { readonly type: "memory.deleted"; readonly timestamp: string; readonly data: WebhookChange }
  | { readonly type: "webhook.test"; readonly timestamp: string; readonly data: Readonly<Record<string, never>> };
