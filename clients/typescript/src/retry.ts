/** When a request may be repeated. */

/** Most attempts of one request, unless the caller chooses. */
export const MAX_ATTEMPTS = 5;

/** The client does not wait longer than this for a retry: then the caller has to decide. */
export const MAX_WAIT_MS = 120_000;

const FIRST_WAIT_MS = 1000;
const TOO_MANY_REQUESTS = 429;
const SERVICE_UNAVAILABLE = 503;
const CONFLICT = 409;

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
 * Milliseconds until the request may be repeated.
 *
 * @param attempt - The attempt.
 * @param maxAttempts - Most attempts of one request.
 * @param now - The current time.
 * @param random - A number from 0 to 1.
 * @returns null if the request must not be repeated.
 */
export function retryWaitMs(attempt: Attempt, maxAttempts: number, now: Date, random: number): number | null {
  // A 409 with Retry-After: the first attempt is still being processed. Without: the change does not fit, and never will.
  const isTemporary =
    attempt.status === null ||
    attempt.status === TOO_MANY_REQUESTS ||
    attempt.status === SERVICE_UNAVAILABLE ||
    (attempt.status === CONFLICT && attempt.retryAfter !== null);
  if (!isTemporary || attempt.number >= maxAttempts) return null;
  const backoff = FIRST_WAIT_MS * 2 ** (attempt.number - 1) * (0.5 + random);
  const wait = retryAfterMs(attempt.retryAfter, now) ?? backoff;
  return wait <= MAX_WAIT_MS ? wait : null;
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
