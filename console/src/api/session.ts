import { queryOptions, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";

import { fetchJson, SESSION_PATH, setCsrfToken } from "./client";
import { ApiError } from "./errors";

export type Scope = "ingest" | "recall" | "correct" | "erase" | "operate";
export type Role = "viewer" | "operator" | "admin";

export interface Principal {
  kind: "tenant" | "operator";
  tenant: string | null;
  user: string | null;
  id: string;
  label: string;
  scopes: Scope[];
  role: Role | null;
}

export interface Session {
  principal: Principal;
  version: string;
  csrf_token: string;
  expires_at: string;
}

async function readSession(): Promise<Session | null> {
  try {
    return await fetchJson<Session>("GET", SESSION_PATH);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

async function openSession(): Promise<Session | null> {
  const session = await readSession();
  if (session !== null) setCsrfToken(session.csrf_token);
  return session;
}

/** The session of this tab, or null if nobody is signed in. */
export const sessionQuery = queryOptions({ queryKey: ["session"], queryFn: openSession, staleTime: Infinity, retry: false });

/** The latest session of this tab, also after its end, until somebody signs out. */
let latest: Session | null = null;

/** The session that ended without signing out: it expired, its key was revoked, or another tab signed in with another key. */
export const endedSession = (): Session | null => latest;

/** Identifies a principal: the next one must not see what this one has read or entered. */
export function identityOf({ kind, tenant, user, id }: Principal): string {
  return JSON.stringify([kind, tenant, user, id]);
}

let checking: Promise<void> | null = null;

/** Goes on with the browser's session if it is of the same key, for example after another tab has signed in again. Otherwise this tab has no session. */
export function checkSession(client: QueryClient): Promise<void> {
  checking ??= check(client).finally(() => {
    checking = null;
  });
  return checking;
}

async function check(client: QueryClient): Promise<void> {
  latest = client.getQueryData(sessionQuery.queryKey) ?? latest;
  if (latest === null) return;
  const found = await readSession().catch(() => undefined);
  if (found === undefined) return;
  if (found !== null && identityOf(found.principal) === identityOf(latest.principal)) accept(client, found);
  else {
    setCsrfToken("");
    client.setQueryData(sessionQuery.queryKey, null);
  }
}

function accept(client: QueryClient, session: Session): void {
  setCsrfToken(session.csrf_token);
  if (latest !== null && identityOf(latest.principal) !== identityOf(session.principal)) forget(client);
  latest = null;
  client.setQueryData(sessionQuery.queryKey, session);
  void client.invalidateQueries({ predicate: (query) => query.state.status === "error" });
}

/** Forgets everything that was read in a session. Its own query stays: the gate observes it. */
function forget(client: QueryClient): void {
  client.removeQueries({ predicate: (query) => query.queryKey[0] !== sessionQuery.queryKey[0] });
}

export async function signIn(client: QueryClient, apiKey: string): Promise<void> {
  accept(client, await fetchJson<Session>("POST", SESSION_PATH, { api_key: apiKey }));
}

/** Ends the session. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await fetchJson<null>("DELETE", SESSION_PATH).catch((error: unknown) => {
      // 403: another tab has signed in since, which has ended this session.
      if (!(error instanceof ApiError) || ![401, 403].includes(error.status)) throw error;
    });
    latest = null;
    setCsrfToken("");
    forget(client);
    client.setQueryData(sessionQuery.queryKey, null);
  };
}

/** The session of the pages inside the shell. */
export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("nobody is signed in");
  return session;
}

/** The signed-in principal. Only for components inside the shell. */
export const usePrincipal = (): Principal => useSession().principal;

/** The address of a resource that tenants and operators read at different places. The tenant in the query is for operators. */
export function placeFor(principal: Principal, rest: string, query: Record<string, string | number | null | undefined> = {}): string {
  const isOperator = principal.kind === "operator";
  const given = Object.entries(query).filter(([name, value]) => value != null && value !== "" && (isOperator || name !== "tenant"));
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${isOperator ? "/v1/admin" : "/v1"}/${rest}${search && `?${search}`}`;
}

/** Whether a principal's key opens a scope. */
export function hasScope(principal: Principal, scope: Scope): boolean {
  return principal.kind === "tenant" && principal.scopes.includes(scope);
}

/** Whether a principal may read what only the whole tenant has, such as its cost. */
export function readsWholeTenant(principal: Principal): boolean {
  return principal.kind === "operator" || (hasScope(principal, "operate") && principal.user === null);
}

const LEVELS: Role[] = ["viewer", "operator", "admin"];

/** Whether an operator's role includes another one. */
export function hasRole(principal: Principal, role: Role): boolean {
  return principal.role !== null && LEVELS.indexOf(principal.role) >= LEVELS.indexOf(role);
}
