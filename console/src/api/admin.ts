import { queryOptions } from "@tanstack/react-query";

import { allPages, api, unwrap } from "./client";

const PAGE = 200;

/** All tenants, for an operator. */
export const tenantsQuery = queryOptions({
  queryKey: ["admin", "tenants"],
  staleTime: 30_000,
  queryFn: async () => ({
    tenants: await allPages(async (after: string | undefined) => {
      const { tenants, next } = await unwrap(api.GET("/v1/admin/tenants", { params: { query: { after, limit: PAGE } } }));
      return { entries: tenants, next };
    }),
  }),
});
