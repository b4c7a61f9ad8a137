import { queryOptions } from "@tanstack/react-query";

import { fetchJson } from "./client";
import type { Principal } from "./session";

export interface Stage {
  name: string;
  lag: number | null;
  parked: number | null;
  parked_by_tenant: Record<string, number>;
  rate: number | null;
  oldest_s: number | null;
  retention_left_s: number | null;
  unfinished: string | null;
}

export interface Overview {
  read_at: string;
  over_s: number | null;
  stages: Stage[];
  rates: { at: string; stages: Record<string, number> }[];
  memories: number | null;
}

/** The address of a resource that tenants and operators read at different places. */
export function placeFor(principal: Principal, rest: string): string {
  return principal.kind === "operator" ? `/v1/admin/${rest}` : `/v1/${rest}`;
}

const POLL_MS = 5_000;

export function overviewQuery(principal: Principal) {
  return queryOptions({
    queryKey: ["overview", principal.kind],
    queryFn: () => fetchJson<Overview>("GET", placeFor(principal, "overview")),
    refetchInterval: POLL_MS,
  });
}

export interface UsageRow {
  day: string;
  tenant: string;
  stage: string;
  purpose: string;
  model: string;
  calls: number;
  estimated_calls: number;
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
  cost: number;
  latency_ms: number;
}

export interface Budget {
  tenant: string;
  soft_tokens: number | null;
  hard_tokens: number | null;
  soft_cost: number | null;
  hard_cost: number | null;
  policy: string;
  used_tokens: number | null;
  used_cost: number | null;
}

export interface Usage {
  since: string;
  rows: UsageRow[];
  truncated: boolean;
  priced: boolean;
  budgets: Budget[];
}

export function usageQuery(principal: Principal, tenant: string | undefined, days: number) {
  const since = new Date();
  since.setUTCHours(0, 0, 0, 0);
  since.setUTCDate(since.getUTCDate() - days + 1);
  const query = new URLSearchParams({ since: since.toISOString() });
  if (tenant && principal.kind === "operator") query.set("tenant", tenant);
  return queryOptions({
    queryKey: ["usage", principal.kind, tenant, days],
    queryFn: () => fetchJson<Usage>("GET", `${placeFor(principal, "usage")}?${query.toString()}`),
    staleTime: 30_000,
  });
}
