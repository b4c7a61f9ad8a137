import createClient, { type Middleware } from "openapi-fetch";

import { apiError } from "./errors";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

let csrfToken = "";
let onRefused: () => void = () => undefined;

export function setCsrfToken(token: string): void {
  csrfToken = token;
}

/** Registers the reaction to a session that ended, or that another tab has replaced. */
export function whenSessionRefused(listener: () => void): void {
  onRefused = listener;
}

/** Reads send the token, too: the cookie may be that of another key, with which another tab has signed in. */
const TOKEN_HEADER = "X-CSRF-Token";

const session: Middleware = {
  onRequest({ request }) {
    if (csrfToken !== "") request.headers.set(TOKEN_HEADER, csrfToken);
    return request;
  },
  async onResponse({ response }) {
    if (response.status === 401) onRefused();
    if (response.status === 403 && isOfOtherSession(parse(await response.clone().text()))) onRefused();
    return undefined;
  },
};

const isOfOtherSession = (problem: unknown): boolean => typeof problem === "object" && problem !== null && "type" in problem && problem.type === "urn:varve:problem:csrf";

/** The typed client of the HTTP API. */
export const api = createClient<paths>({ credentials: "same-origin" });
api.use(session);

interface Outcome<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** Returns the body of a successful response. Throws an `ApiError` otherwise. */
export async function unwrap<Data>(outcome: Promise<Outcome<Data>>): Promise<Data> {
  const { data, error, response } = await outcome;
  if (!response.ok) throw apiError(response, error);
  return data as Data;
}

const MOST_PAGES = 50;

/** All entries of a list that the service answers in pages. */
export async function allPages<After, Entry>(read: (after: After | undefined) => Promise<{ entries: Entry[]; next?: After | null }>): Promise<Entry[]> {
  const found: Entry[] = [];
  let after: After | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { entries, next } = await read(after);
    found.push(...entries);
    if (next == null) break;
    after = next;
  }
  return found;
}

/** The address of the console's own session. Its 401 means that nobody is signed in, or that a key is refused. */
export const SESSION_PATH = "/console/session";

/** Sends a request of which the address is chosen by the principal, or that is not in the OpenAPI document. */
export async function fetchJson<Data>(method: string, path: string, body?: unknown): Promise<Data> {
  const headers = new Headers();
  if (body !== undefined) headers.set("Content-Type", "application/json");
  if (csrfToken !== "" && !(path === SESSION_PATH && method === "GET")) headers.set(TOKEN_HEADER, csrfToken);
  const response = await fetch(path, { method, headers, credentials: "same-origin", body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await response.text();
  const parsed: unknown = text ? parse(text) : null;
  if (path !== SESSION_PATH && (response.status === 401 || (response.status === 403 && isOfOtherSession(parsed)))) onRefused();
  if (!response.ok) throw apiError(response, parsed);
  return parsed as Data;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
