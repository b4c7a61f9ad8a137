/** The client. */

import * as calls from "./calls.js";
import type { Call } from "./calls.js";
import { ServiceUnreachableError } from "./errors.js";
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
  HistoryEntry,
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
} from "./models.js";
import { MAX_ATTEMPTS, RETRY_FOR_MS, retryWaitMs } from "./retry.js";
import type { Attempt, Retries } from "./retry.js";

const FOUND = 302;

/** How to reach the service. */
export interface ClientOptions {
  /** The tenant's key. */
  readonly apiKey: string;
  /** Timeout of one attempt, in milliseconds, at most 2,147,483,647. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Most attempts of a request that the service refuses temporarily, or whose connection fails. 1: it is never repeated. Default: 5. */
  readonly maxAttempts?: number | undefined;
  /** No attempt of a request begins later than this many milliseconds after its first. Default: 120,000. */
  readonly retryForMs?: number | undefined;
  /** The function that sends requests, for proxies, certificates or tests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** How one request is sent. */
export interface RequestOptions {
  /** Aborts the request and the wait for a retry. The method then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of one attempt, in milliseconds. Default: the client's. */
  readonly timeoutMs?: number | undefined;
}

/** How one change is sent. */
export interface WriteOptions extends RequestOptions {
  /**
   * Names the change: a repeated call with the same name and arguments does nothing twice. Set it to repeat a call whose outcome is
   * unknown, after a `ServiceUnreachableError` or a restart of your program. Default: a new name for each call.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A response. */
interface Answer extends Attempt {
  readonly status: number;
  readonly statusText: string;
  readonly text: string;
}

/**
 * Calls the service for one tenant.
 *
 * Every method rejects with a `ServiceUnreachableError` if the service cannot be reached, and with a `ServiceProblemError` if it refuses
 * the request. Requests are repeated while the service refuses them temporarily, and while connections to it fail. A request that has
 * timed out is not repeated.
 */
export class VarveClient {
  readonly #url: string;
  readonly #authorization: string;
  readonly #timeoutMs: number;
  readonly #retries: Retries;
  readonly #fetch: typeof fetch;

  /**
   * @param url - The address of the service, such as `http://127.0.0.1:8080`.
   * @param options - The key, and how to reach the service.
   * @throws TypeError if the address, the key or a limit cannot be one.
   */
  constructor(url: string, options: ClientOptions) {
    this.#url = calls.addressOf(url, (globalThis as { location?: { href?: string } }).location?.href);
    this.#authorization = calls.authorizationOf(options.apiKey);
    this.#timeoutMs = calls.timeoutOf(options.timeoutMs ?? 30_000);
    this.#retries = calls.retriesOf(options.maxAttempts ?? MAX_ATTEMPTS, options.retryForMs ?? RETRY_FOR_MS);
    // Browsers reject a fetch that is called as a method of another object.
    this.#fetch = options.fetch ?? ((...parameters) => fetch(...parameters));
  }

  /**
   * Sends messages in order, in batches; each batch is durable before the next is sent.
   *
   * @param messages - Each has at least `user`, `session` and `text`. A message with the id of an earlier one of the same session is
   *   stored once.
   * @param options - `onBatch` is called with the number of messages of each batch, once those that were not refused are durable.
   * @returns The id and position of each message.
   * @throws MessagesRefusedError if the service refused some of them. The others, of all batches, are durable.
   */
  async send(messages: readonly Message[], options: WriteOptions & { onBatch?: ((count: number) => void) | undefined } = {}): Promise<SentMessage[]> {
    const outcomes: RefusedMessage[] = [];
    for (const call of calls.sendCalls(messages, options.idempotencyKey)) {
      const batch = await this.#request(call, options);
      options.onBatch?.(batch.length);
      outcomes.push(...batch);
    }
    return calls.sentOf(outcomes);
  }

  /**
   * Replaces the text of a message. Everything that is based on the old text is retracted, and the new text is extracted.
   *
   * @param session - The session of the message.
   * @param messageId - The id of the message.
   * @param text - The new text, not blank.
   * @param options - `user` is the user of the message. Default: the user to whom the key is bound.
   */
  async editMessage(session: string, messageId: string, text: string, options: WriteOptions & { user?: string | undefined } = {}): Promise<ChangedMessage> {
    return this.#request(calls.editCall(session, messageId, text, options.user, options.idempotencyKey), options);
  }

  /**
   * Deletes a message and everything that is based on it.
   *
   * @param session - The session of the message.
   * @param messageId - The id of the message.
   * @param options - `user` is the user of the message. Default: the user to whom the key is bound.
   */
  async deleteMessage(session: string, messageId: string, options: WriteOptions & { user?: string | undefined } = {}): Promise<ChangedMessage> {
    return this.#request(calls.deleteCall(session, messageId, options.user, options.idempotencyKey), options);
  }

  /** Closes the open window of a session, or of all sessions of the tenant, so that its messages are extracted now. */
  async flush(session?: string, request: WriteOptions = {}): Promise<void> {
    await this.#request(calls.flushCall(session, request.idempotencyKey), request);
  }

  /**
   * Finds memories.
   *
   * @param query - The question.
   * @param options - Further fields of the request, such as `user`, `session`, `limit`, `as_of`, `min_confidence` or `mode`.
   * @param request - How the request is sent.
   */
  async recall(query: string, options: RecallOptions = {}, request: RequestOptions = {}): Promise<RecallResult> {
    return this.#request(calls.recallCall(query, options), request);
  }

  /**
   * Returns what the memory knows as a block of text for the user part of a prompt.
   *
   * @param query - The question.
   * @param options - Further fields of the request, such as `user`, `session` or `tokens`.
   * @param request - How the request is sent.
   */
  async context(query: string, options: ContextOptions = {}, request: RequestOptions = {}): Promise<Context> {
    return this.#request(calls.contextCall(query, options), request);
  }

  /**
   * Reports which memories of a recall or context helped. The newest feedback on a recall counts.
   *
   * @param recallId - The id in its result.
   * @param options - The ids of the memories, and the user of the recall, if it named one.
   * @param request - How the request is sent.
   */
  async feedback(recallId: string, options: FeedbackOptions, request: RequestOptions = {}): Promise<void> {
    await this.#request(calls.feedbackCall(recallId, options), request);
  }

  /** Returns one memory. */
  async memory(memoryId: string, request: RequestOptions = {}): Promise<Memory> {
    return this.#request(calls.memoryCall(memoryId), request);
  }

  /** Returns the newest messages of a session; none for a session that is unknown or long idle. */
  async session(session: string, request: RequestOptions = {}): Promise<Session> {
    return this.#request(calls.sessionCall(session), request);
  }

  /** Returns a page of the memories. `allMemories` follows the pages. */
  async memories(options: MemoryFilters & PageOptions = {}, request: RequestOptions = {}): Promise<MemoryPage> {
    return this.#request(calls.memoriesCall(options), request);
  }

  /** Iterates over all memories that pass the filters; `limit` is the size of the pages that it requests. */
  async *allMemories(options: MemoryFilters & PageOptions = {}, request: RequestOptions = {}): AsyncGenerator<Memory, void, undefined> {
    let after = options.after;
    do {
      const page = await this.memories({ ...options, after }, request);
      yield* page.memories;
      after = page.next ?? undefined;
    } while (after !== undefined);
  }

  /**
   * Deletes an event for good. `remaining` of the result lists what still has its content.
   *
   * @param memoryId - The id of the event.
   * @param options - `reason` is for the audit log.
   */
  async deleteMemory(memoryId: string, options: WriteOptions & { reason?: string | undefined } = {}): Promise<Correction> {
    return this.#request(calls.deleteMemoryCall(memoryId, options.reason ?? "", options.idempotencyKey), options);
  }

  /**
   * Starts the permanent erasure of a user. The key needs the scope `erase`.
   *
   * @param user - The user.
   * @param options - `reason` is for the audit log, which is kept forever: do not name the user in it.
   */
  async eraseUser(user: string, options: RequestOptions & { reason?: string | undefined } = {}): Promise<BegunErasure> {
    return this.#request(calls.eraseCall(user, options.reason ?? ""), options);
  }

  /** Returns an erasure; it is finished once `finished_at` is set. Its argument is the `subject` of the result of `eraseUser`. */
  async erasure(subject: string, request: RequestOptions = {}): Promise<Erasure> {
    return this.#request(calls.erasureCall(subject), request);
  }

  /** Returns the tenant, the user and the scopes of the key. */
  async status(request: RequestOptions = {}): Promise<KeyStatus> {
    return this.#request(calls.statusCall(), request);
  }

  /** Replaces parts of an event or of an entity: its `content`, `properties` or `date`. */
  async correct(memoryId: string, changes: CorrectionChanges, request: WriteOptions = {}): Promise<Correction> {
    return this.#request(calls.correctCall(memoryId, changes, request.idempotencyKey), request);
  }

  /** Marks an event as false: recalls no longer return it, and entities are computed without it. */
  async invalidate(memoryId: string, options: WriteOptions & { reason?: string | undefined } = {}): Promise<Correction> {
    return this.#request(calls.takeBackCall(memoryId, "invalidate", options.reason ?? "", options.idempotencyKey), options);
  }

  /** Takes back the newest correction of a memory. Refused with 409 `nothing-to-revert` if none is in force. */
  async revert(memoryId: string, options: WriteOptions & { reason?: string | undefined } = {}): Promise<Correction> {
    return this.#request(calls.takeBackCall(memoryId, "revert", options.reason ?? "", options.idempotencyKey), options);
  }

  /**
   * Returns the blocks of a user, in the order of the schema; none if the schema has no property with the operator AGENT.
   *
   * @param options - `user` is the user. Default: the user to whom the key is bound.
   */
  async blocks(options: RequestOptions & { user?: string | undefined } = {}): Promise<Block[]> {
    return this.#request(calls.blocksCall(options.user), options);
  }

  /**
   * Returns one block with its newest edits.
   *
   * @param type - Its entity type.
   * @param property - Its property.
   * @param options - `user` is the user. Default: the user to whom the key is bound.
   */
  async block(type: string, property: string, options: RequestOptions & { user?: string | undefined } = {}): Promise<Block> {
    return this.#request(calls.blockCall(type, property, options.user), options);
  }

  /**
   * Edits a block.
   *
   * @param type - Its entity type.
   * @param property - Its property.
   * @param change - The tool (`append`, `replace` or `insert`), its arguments, and the user, unless the key is bound to one.
   * @param request - How the request is sent. For the result of an edit that is `pending`, repeat the call with its `idempotencyKey`.
   * @throws ServiceProblemError of the kind `edit-conflict` if the edit does not fit the block as it is now.
   */
  async editBlock(type: string, property: string, change: BlockChange, request: WriteOptions = {}): Promise<EditedBlock> {
    return this.#request(calls.editBlockCall(type, property, change, request.idempotencyKey), request);
  }

  /**
   * Undoes one of a block's newest edits.
   *
   * @param type - The block's entity type.
   * @param property - The block's property.
   * @param edit - The id of the edit.
   * @param options - `user` is the user. Default: the user to whom the key is bound. `reason` is for the log.
   */
  async undoEdit(
    type: string,
    property: string,
    edit: string,
    options: WriteOptions & { user?: string | undefined; reason?: string | undefined } = {},
  ): Promise<EditedBlock> {
    const body = { user: options.user, reason: options.reason };
    return this.#request(calls.undoEditCall(type, property, edit, body, options.idempotencyKey), options);
  }

  /**
   * Returns a page of a user's events nearest to a text, five to a page. To answer a question, use `recall`.
   *
   * @param text - The text.
   * @param options - `user` is the user. Default: the user to whom the key is bound. `page` is the page; the first page is 0.
   */
  async searchEvents(
    text: string,
    options: RequestOptions & { user?: string | undefined; page?: number | undefined } = {},
  ): Promise<FoundEvents> {
    return this.#request(calls.searchEventsCall(text, options.user, options.page ?? 0), options);
  }

  /**
   * Returns one entity.
   *
   * @param type - Its type.
   * @param key - The parts of its key, in the order of the schema's `Keys`.
   * @param times - The state that is wanted. Default: the current one.
   * @param request - How the request is sent.
   */
  async entity(type: string, key: readonly string[], times: EntityTimes = {}, request: RequestOptions = {}): Promise<Entity> {
    return this.#request(calls.entityCall(type, key, times), request);
  }

  /** Returns a page of the changes of an entity, oldest first. `wholeEntityHistory` follows the pages. */
  async entityHistory(
    type: string,
    key: readonly string[],
    options: EntityTimes & PageOptions = {},
    request: RequestOptions = {},
  ): Promise<HistoryPage> {
    return this.#request(calls.historyCall(type, key, options), request);
  }

  /** Iterates over all changes of an entity, oldest first; `limit` is the size of the pages that it requests. */
  async *wholeEntityHistory(
    type: string,
    key: readonly string[],
    options: EntityTimes & PageOptions = {},
    request: RequestOptions = {},
  ): AsyncGenerator<HistoryEntry, void, undefined> {
    let after = options.after;
    do {
      const page = await this.entityHistory(type, key, { ...options, after }, request);
      yield* page.steps;
      after = page.next ?? undefined;
    } while (after !== undefined);
  }

  async #request<T>(call: Call<T>, options: RequestOptions): Promise<T> {
    const url = this.#url + call.path;
    const body = call.body === undefined ? undefined : calls.jsonOf(call.body);
    const began = performance.now();
    for (let number = 1; ; number += 1) {
      const answer = await this.#attempt(call, body, number, options);
      const wait = retryWaitMs(answer, this.#retries, performance.now() - began, new Date(), Math.random());
      if (wait !== null) {
        await sleep(wait, options.signal);
        continue;
      }
      if (answer instanceof LostAttempt) throw answer.error;
      if (answer.status >= 300) throw calls.problem(url, answer.status, answer.statusText, answer.text);
      let parsed: unknown;
      try {
        parsed = JSON.parse(answer.text);
      } catch (error) {
        throw calls.unreadable(url, answer.status, error);
      }
      try {
        return call.parse(parsed);
      } catch (error) {
        throw error instanceof TypeError ? calls.unreadable(url, answer.status, error) : error;
      }
    }
  }

  async #attempt<T>(call: Call<T>, body: string | undefined, number: number, options: RequestOptions): Promise<Answer | LostAttempt> {
    const timeoutMs = calls.timeoutOf(options.timeoutMs ?? this.#timeoutMs);
    const timeout = AbortSignal.timeout(timeoutMs);
    const headers: Record<string, string> = { Accept: "application/json", Authorization: this.#authorization };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (call.idempotencyKey !== undefined) headers["Idempotency-Key"] = call.idempotencyKey;
    try {
      const response = await this.#fetch(this.#url + call.path, {
        method: call.method,
        headers,
        // A redirect would turn a POST into a GET.
        redirect: "manual",
        signal: AbortSignal.any([timeout, ...(options.signal === undefined ? [] : [options.signal])]),
        ...(body !== undefined && { body }),
      });
      const retryAfter = response.headers.get("Retry-After");
      // Browsers hide the status of a redirect.
      const status = response.type === "opaqueredirect" ? FOUND : response.status;
      return { number, status, statusText: response.statusText, retryAfter, text: await response.text() };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (timeout.aborted) {
        throw new ServiceUnreachableError(`${this.#url} gave no answer within ${String(timeoutMs)} ms (timeoutMs)`, { cause: error });
      }
      const problem = `${this.#url} cannot be reached (${reasonOf(error)}): is \`varve dev\` or \`varve serve\` running?`;
      return new LostAttempt(number, new ServiceUnreachableError(problem, { cause: error }));
    }
  }
}

/** An attempt whose connection failed. */
class LostAttempt implements Attempt {
  readonly status = null;
  readonly retryAfter = null;

  constructor(
    readonly number: number,
    readonly error: ServiceUnreachableError,
  ) {}
}

/** One line about why a request failed. `fetch` puts the reason into the cause of a general error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const reason = error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
  return reason.replace(/\s+/g, " ").trim();
}

/** Resolves after some milliseconds, or rejects with the signal's reason. */
function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = (): void => {
      clearTimeout(timer);
      // The caller chooses the reason of the signal.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
