/** A refusal of the service: its problem document (RFC 9457). */
export class ApiError extends Error {
  readonly status: number;
  readonly kind: string;
  readonly traceId: string;
  readonly retryAfterS: number | null;

  constructor(status: number, kind: string, detail: string, traceId: string, retryAfterS: number | null) {
    super(detail);
    this.status = status;
    this.kind = kind;
    this.traceId = traceId;
    this.retryAfterS = retryAfterS;
  }
}

const PREFIX = "urn:varve:problem:";

/** Builds the error of a refused request from its response. */
export function apiError(response: Response, body: unknown): ApiError {
  const problem = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const kind = typeof problem.type === "string" ? problem.type.replace(PREFIX, "") : "unexpected";
  const detail = typeof problem.detail === "string" && problem.detail ? problem.detail : `The service answered with status ${response.status}.`;
  const wait = Number(response.headers.get("Retry-After"));
  return new ApiError(response.status, kind, detail, typeof problem.trace_id === "string" ? problem.trace_id : "", wait > 0 ? wait : null);
}
