import { queryOptions } from "@tanstack/react-query";

import { useChange } from "./change";
import { allPages, api, fetchJson, unwrap, type Schemas } from "./client";
import { placeFor, type Principal } from "./session";

export type Check = Schemas["SchemaCheckView"];
export type MethodSummary = Schemas["MethodSummary"];

export interface Revision {
  schema: string;
  /** For a tenant: whether it is the tenant's own, and whether its live generation uses it. */
  own?: boolean;
  in_force?: boolean;
  /** For an operator: the number of tenants that use it, and its only tenant. */
  tenants?: number;
  owner?: string | null;
}

const PAGE = 200;

export function revisionsQuery(principal: Principal) {
  return queryOptions({
    queryKey: ["schemas", principal.kind],
    staleTime: 30_000,
    queryFn: () =>
      allPages(async (after: number | undefined) => {
        const body = await fetchJson<{ schemas: Revision[]; next: number | null }>("GET", placeFor(principal, "schemas", { limit: PAGE, after }));
        return { entries: body.schemas, next: body.next };
      }),
  });
}

export function schemaQuery(principal: Principal, schema: string) {
  return queryOptions({
    queryKey: ["schemas", principal.kind, schema],
    staleTime: Infinity,
    queryFn: () => fetchJson<Schemas["SchemaView"]>("GET", placeFor(principal, `schemas/${encodeURIComponent(schema)}`)),
  });
}

export function methodsQuery(principal: Principal) {
  return queryOptions({
    queryKey: ["methods", principal.kind],
    staleTime: Infinity,
    queryFn: async () => (await fetchJson<{ methods: MethodSummary[] }>("GET", placeFor(principal, "methods"))).methods,
  });
}

export function methodQuery(principal: Principal, method: string) {
  return queryOptions({
    queryKey: ["methods", principal.kind, method],
    staleTime: Infinity,
    queryFn: () => fetchJson<Schemas["MethodView"]>("GET", placeFor(principal, `methods/${encodeURIComponent(method)}`)),
  });
}

export interface Draft {
  content: unknown;
  method: string | Record<string, unknown> | null;
}

/** Checks a schema with a method. Nothing is stored. */
export function checkQuery(principal: Principal, draft: Draft | null) {
  return queryOptions({
    queryKey: ["schema-check", principal.kind, draft],
    enabled: draft !== null,
    staleTime: Infinity,
    placeholderData: (before) => before,
    queryFn: () => fetchJson<Check>("POST", placeFor(principal, "schemas/validate"), draft),
  });
}

/** Stores a schema as a new revision. Tenants use it once a generation of theirs does. The service refuses it with 412 if it does not follow the revision that was seen; 0: none. */
export function useCreateSchema() {
  return useChange(
    ({ content, tenant, seen }: { content: unknown; tenant: string | null; seen: number }) =>
      unwrap(api.POST("/v1/admin/schemas", { params: { header: { "If-Match": `"${seen}"` } }, body: { content: content as Schemas["JsonValue"], tenant } })),
    "schemas",
  );
}
