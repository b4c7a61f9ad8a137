import { queryOptions, useQueryClient, useSuspenseQuery, type QueryClient } from "@tanstack/react-query";

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
    const session = await fetchJson<Session>("GET", SESSION_PATH);
    setCsrfToken(session.csrf_token);
    return session;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** The session of this browser, or null if nobody is signed in. */
export const sessionQuery = queryOptions({ queryKey: ["session"], queryFn: readSession, staleTime: Infinity, retry: false });

let hasEnded = false;

/** Whether the latest session ended without signing out: it expired, or its key was revoked. */
export const sessionHasEnded = (): boolean => hasEnded;

/** Leads to the sign-in page after the service has refused the session, and forgets everything that was read in it. */
export function leaveEndedSession(client: QueryClient): void {
  if (client.getQueryData(sessionQuery.queryKey) === null) return;
  hasEnded = true;
  setCsrfToken("");
  forget(client);
}

function forget(client: QueryClient): void {
  // The session's own query stays: the gate observes it.
  client.removeQueries({ predicate: (query) => query.queryKey[0] !== sessionQuery.queryKey[0] });
  client.setQueryData(sessionQuery.queryKey, null);
}

export async function signIn(apiKey: string): Promise<Session> {
  const session = await fetchJson<Session>("POST", SESSION_PATH, { api_key: apiKey });
  setCsrfToken(session.csrf_token);
  hasEnded = false;
  return session;
}

/** Ends the session, and forgets everything that was read in it. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await fetchJson<null>("DELETE", SESSION_PATH).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
    });
    forget(client);
  };
}

/** The signed-in principal. Only for components inside the shell. */
export function usePrincipal(): Principal {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data === null) throw new Error("nobody is signed in");
  return data.principal;
}

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
