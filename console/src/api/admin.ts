import { infiniteQueryOptions } from "@tanstack/react-query";

import { api, unwrap } from "./client";

const PAGE = 100;

/** The tenants, for an operator, by id and in pages: all, or those whose id contains a text. */
export function tenantsQuery(contains = "") {
  return infiniteQueryOptions({
    queryKey: ["admin", "tenants", "list", contains],
    staleTime: 30_000,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => unwrap(api.GET("/v1/admin/tenants", { params: { query: { contains: contains || undefined, after: pageParam, limit: PAGE } } })),
    getNextPageParam: (last) => last.next ?? undefined,
    placeholderData: (before) => before,
  });
}
