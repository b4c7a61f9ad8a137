/** When a request may be repeated. */

/** Most attempts of one request, unless the caller chooses. */
export const MAX_ATTEMPTS = 5;

/** No attempt of a request begins later than this after its first, unless the caller chooses. */
export const RETRY_FOR_MS = 120_000;

/** Timers of JavaScript take no longer delay: they end at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

const FIRST_WAIT_MS = 1000;
const LONGEST_BACKOFF_MS = 20_000;
/** Refusals that a later attempt may not get: those of the service, and those of a proxy whose service restarts. */
const TEMPORARY = new Set([429, 502, 503, 504]);
const CONFLICT = 409;

/** How often and how long one request is repeated. */
export interface Retries {
  /** Most attempts of one request. */
  readonly maxAttempts: number;
  /** No attempt begins later than this many milliseconds after the first. */
  readonly retryForMs: number;
}

/** The outcome of an attempt, as far as a retry depends on it. */
export interface Attempt {
  /** The status of the response; null if the connection failed. */
  readonly status: number | null;
  /** The header `Retry-After`; null if there is none. */
  readonly retryAfter: string | null;
  /** The number of the attempt, from 1. */
  readonly number: number;
}

/**
 * Milliseconds until the request is repeated. Every request may be repeated when its outcome is unknown: it reads, or has an idempotency
 * key, or leads to the same state when it is sent twice (feedback, and the erasure of a user).
 *
 * @param attempt - The attempt.
 * @param retries - The limits.
 * @param elapsedMs - Milliseconds since the first attempt began.
 * @param now - The current time.
 * @param random - A number from 0 to 1.
 * @returns null if the request is not repeated.
 */
export function retryWaitMs(attempt: Attempt, retries: Retries, elapsedMs: number, now: Date, random: number): number | null {
  // A 409 with Retry-After: the first attempt is still being processed. Without: the change does not fit, and never will.
  const isTemporary =
    attempt.status === null || TEMPORARY.has(attempt.status) || (attempt.status === CONFLICT && attempt.retryAfter !== null);
  if (!isTemporary || attempt.number >= retries.maxAttempts) return null;
  const backoff = Math.min(LONGEST_BACKOFF_MS, FIRST_WAIT_MS * 2 ** (attempt.number - 1)) * (0.5 + random / 2);
  const wait = retryAfterMs(attempt.retryAfter, now) ?? backoff;
  return elapsedMs + wait <= Math.min(retries.retryForMs, LONGEST_TIMER_MS) ? wait : null;
}

/**
 * Milliseconds that a `Retry-After` header asks for (RFC 9110, 10.2.3).
 *
 * @param header - The header.
 * @param now - The current time.
 * @returns null if it is missing or unreadable.
 */
export function retryAfterMs(header: string | null, now: Date): number | null {
  const value = header?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // Date.parse alone would also read "-5" as a year.
  const moment = /^[A-Za-z]{3},/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(moment) ? null : Math.max(0, moment - now.getTime());
}
