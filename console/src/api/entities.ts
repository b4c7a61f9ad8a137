import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, unwrap, type Schemas } from "./client";

export type Step = Schemas["HistoryStep"];

/** A time of an entity: what was true then, or what was known then. */
export interface AtTime {
  as_of?: string;
  known_at?: string;
}

export function entityQuery(type: string, key: string, at: AtTime) {
  return queryOptions({
    queryKey: ["entities", type, key, "at", at],
    placeholderData: (before) => before,
    queryFn: () => unwrap(api.GET("/v1/entities/{entity_type}/{entity_key}", { params: { path: { entity_type: type, entity_key: key }, query: at }, pathSerializer: entityPath })),
  });
}

export function historyQuery(type: string, key: string) {
  return infiniteQueryOptions({
    queryKey: ["entities", type, key, "history"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET("/v1/entities/{entity_type}/{entity_key}/history", {
          params: { path: { entity_type: type, entity_key: key }, query: { after: pageParam, limit: 200 } },
          pathSerializer: entityPath,
        }),
      ),
    getNextPageParam: (last) => last.next ?? undefined,
  });
}

/** Fills the address of an entity. Its key is encoded already, and its parts are joined by slashes. */
function entityPath(pathname: string, params: Record<string, unknown>): string {
  return pathname.replace("{entity_type}", encodeURIComponent(String(params.entity_type))).replace("{entity_key}", String(params.entity_key));
}
