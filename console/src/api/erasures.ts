import { queryOptions } from "@tanstack/react-query";

import { useChange } from "./change";
import { api, fetchJson, unwrap, type Schemas } from "./client";
import { placeFor, type Principal } from "./session";

export type Erasure = Schemas["ErasureView"];

const POLL_MS = 3_000;

export function erasuresQuery(principal: Principal, tenant: string | undefined) {
  return queryOptions({
    queryKey: ["erasures", principal.kind, tenant],
    queryFn: () => fetchJson<{ erasures: Erasure[] }>("GET", placeFor(principal, "erasures", { tenant })),
    // An erasure in progress ends within minutes.
    refetchInterval: (state) => (state.state.data?.erasures.some((each) => each.finished_at === null) ? POLL_MS : false),
  });
}

export interface ErasureOrder {
  tenant: string;
  user: string;
  reason: string;
}

/** Starts an erasure. It cannot be stopped. */
export function useErase(principal: Principal) {
  return useChange(
    ({ tenant, user, reason }: ErasureOrder): Promise<{ subject: string }> =>
      principal.kind === "operator"
        ? unwrap(api.POST("/v1/admin/erasures", { body: { tenant, user, reason } }))
        : unwrap(api.DELETE("/v1/users/{user}", { params: { path: { user }, query: { reason } } })),
    "erasures",
  );
}
