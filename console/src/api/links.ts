import { queryOptions } from "@tanstack/react-query";

import { api, unwrap, type Schemas } from "./client";

export type LinkGraph = Schemas["LinkGraph"];
export type LinkNode = Schemas["GraphNode"];
export type LinkEdge = Schemas["GraphEdge"];

export function linksQuery(user: string | undefined) {
  return queryOptions({
    queryKey: ["links", user],
    queryFn: () => unwrap(api.GET("/v1/links", { params: { query: { user } } })),
    staleTime: 30_000,
  });
}
