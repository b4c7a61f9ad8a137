/** Errors that the client throws. */

import type { RefusedMessage, SentMessage } from "./models.js";

/** Base of the client's errors. */
export class VarveClientError extends Error {
  override readonly name: string = "VarveClientError";
}

/** The service could not be reached, did not answer in time, or the connection broke before its response was complete. */
export class ServiceUnreachableError extends VarveClientError {
  override readonly name = "ServiceUnreachableError";
}

/** The parts of a refusal. */
export interface Refusal {
  /** The HTTP status. */
  readonly status: number;
  /** The last part of the problem's type, such as `not-found`; empty if the response was no problem document. */
  readonly kind: string;
  /** What was wrong, and what to do. */
  readonly detail: string;
  /** The id under which the service logged the request, if it says so. */
  readonly traceId: string | null;
  /** All members of the problem document. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** The service refused a request, and repeating it did not help. */
export class ServiceProblemError extends VarveClientError implements Refusal {
  override readonly name = "ServiceProblemError";
  readonly status: number;
  readonly kind: string;
  readonly detail: string;
  readonly traceId: string | null;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(message: string, refusal: Refusal, options?: ErrorOptions) {
    super(message, options);
    this.status = refusal.status;
    this.kind = refusal.kind;
    this.detail = refusal.detail;
    this.traceId = refusal.traceId;
    this.members = refusal.members;
  }
}

/** The service accepted some messages and refused others. The accepted ones are durable. */
export class MessagesRefusedError extends VarveClientError {
  override readonly name = "MessagesRefusedError";
  /** The refused messages. */
  readonly refused: readonly RefusedMessage[];
  /** The accepted messages. */
  readonly sent: readonly SentMessage[];

  constructor(message: string, refused: readonly RefusedMessage[], sent: readonly SentMessage[]) {
    super(message);
    this.refused = refused;
    this.sent = sent;
  }
}
