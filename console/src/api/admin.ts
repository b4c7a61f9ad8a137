import { queryOptions } from "@tanstack/react-query";

import { api, unwrap, type Schemas } from "./client";

/** All tenants, for an operator. */
export const tenantsQuery = queryOptions({ queryKey: ["admin", "tenants"], queryFn: readTenants, staleTime: 30_000 });

const PAGE = 200;
const MOST_PAGES = 50;

async function readTenants(): Promise<{ tenants: Schemas["TenantView"][] }> {
  const tenants: Schemas["TenantView"][] = [];
  let after: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const body = await unwrap(api.GET("/v1/admin/tenants", { params: { query: { after, limit: PAGE } } }));
    tenants.push(...body.tenants);
    if (!body.next) break;
    after = body.next;
  }
  return { tenants };
}
