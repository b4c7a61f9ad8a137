import { queryOptions } from "@tanstack/react-query";

import { useChange } from "./change";
import { fetchJson } from "./client";
import { hasRole, placeFor, type Principal } from "./session";

export interface Letter {
  place: string;
  state: "open" | "redriven" | "superseded" | "purged";
  topic: string;
  partition: number;
  offset: number;
  stage: string;
  reason: string;
  detail: string;
  tries: number;
  tenant: string | null;
  first_time: string;
  last_time: string;
  key: string;
  size: number;
  parts: number;
  settled_at: string | null;
}

export interface LetterContent extends Letter {
  value: string | null;
  headers: [string, string | null][];
  answer: string | null;
}

export interface LetterFilter {
  stage?: string;
  reason?: string;
  state?: string;
  /** Only letters of the last hours. */
  since?: string;
  tenant?: string;
}

/** Whether a principal may redrive and purge letters. */
export const maySettle = (principal: Principal): boolean => principal.kind === "tenant" || hasRole(principal, "operator");

const LIMIT = 500;

const hoursAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();

export function lettersQuery(principal: Principal, filter: LetterFilter) {
  const { stage, reason, state = "open", since, tenant } = filter;
  return queryOptions({
    queryKey: ["letters", principal.kind, "list", filter],
    queryFn: () => fetchJson<{ dead_letters: Letter[]; total: number }>("GET", placeFor(principal, "dead-letters", { limit: LIMIT, state, stage, reason, since: since && hoursAgo(Number(since)), tenant })),
  });
}

const COUNT_MS = 60_000;

/** The number of open dead letters. */
export function letterCountQuery(principal: Principal, tenant: string | undefined) {
  return queryOptions({
    queryKey: ["letters", principal.kind, "count", tenant],
    queryFn: async () => (await fetchJson<{ total: number }>("GET", placeFor(principal, "dead-letters", { limit: 1, state: "open", tenant }))).total,
    staleTime: COUNT_MS,
    refetchInterval: COUNT_MS,
  });
}

export function letterQuery(principal: Principal, place: string) {
  return queryOptions({ queryKey: ["letters", principal.kind, "one", place], queryFn: () => fetchJson<LetterContent>("GET", placeFor(principal, `dead-letters/${place}`)) });
}

export interface Redriven {
  redriven: number;
  superseded: number;
  refused: string[];
}

function useLetters<Output>(principal: Principal, command: string) {
  return useChange((places: string[]) => fetchJson<Output>("POST", placeFor(principal, `dead-letters/${command}`), { at: places }), "letters");
}

export const useRedrive = (principal: Principal) => useLetters<Redriven>(principal, "redrive");
export const usePurge = (principal: Principal) => useLetters<{ purged: number }>(principal, "purge");
