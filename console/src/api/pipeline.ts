import { queryOptions } from "@tanstack/react-query";

import { fetchJson, type Schemas } from "./client";
import { placeFor, type Principal } from "./session";

export type Stage = Schemas["StageView"];
export type Overview = Schemas["Overview"];
export type UsageRow = Schemas["UsageRow"];
export type Budget = Schemas["BudgetView"];
export type Usage = Schemas["UsageView"];

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
  return queryOptions({
    queryKey: ["usage", principal.kind, tenant, days],
    queryFn: () => fetchJson<Usage>("GET", placeFor(principal, "usage", { since: since.toISOString(), tenant })),
    staleTime: 30_000,
  });
}
