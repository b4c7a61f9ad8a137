import { queryOptions } from "@tanstack/react-query";

import { fetchJson, type Schemas } from "./client";
import type { Principal } from "./session";

export type Stage = Schemas["StageView"];
export type Overview = Schemas["Overview"];
export type UsageRow = Schemas["UsageRow"];
export type Budget = Schemas["BudgetView"];
export type Usage = Schemas["UsageView"];

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
