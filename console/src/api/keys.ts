import { queryOptions } from "@tanstack/react-query";

import { useChange } from "./change";
import { api, unwrap, type Schemas } from "./client";
import type { Role, Scope } from "./session";

export type Tenant = Schemas["TenantView"];
export type ApiKey = Schemas["ApiKeyView"];
export type OperatorKey = Schemas["OperatorKeyView"];

export function keysQuery(tenant: string) {
  return queryOptions({ queryKey: ["admin", "keys", tenant], queryFn: () => unwrap(api.GET("/v1/admin/keys", { params: { query: { tenant } } })) });
}

export const operatorsQuery = queryOptions({ queryKey: ["admin", "operators"], queryFn: () => unwrap(api.GET("/v1/admin/operators")) });

export function tenantQuery(tenant: string) {
  return queryOptions({ queryKey: ["admin", "tenants", tenant], queryFn: () => unwrap(api.GET("/v1/admin/tenants/{tenant}", { params: { path: { tenant } } })) });
}

export const statusQuery = queryOptions({ queryKey: ["status"], queryFn: () => unwrap(api.GET("/v1/status")) });

/** The tenant’s own keys and quotas. */
export const ownKeysQuery = queryOptions({ queryKey: ["keys"], queryFn: () => unwrap(api.GET("/v1/keys")) });

const useAdminChange = <Input, Output>(change: (input: Input) => Promise<Output>) => useChange(change, "admin");

export interface NewKey {
  label: string;
  scopes: Scope[];
  user: string | null;
  expires: string | null;
}

export const useCreateKey = (tenant: string) => useAdminChange((key: NewKey) => unwrap(api.POST("/v1/admin/keys", { body: { tenant, ...key } })));

export const useRotateKey = (tenant: string) =>
  useAdminChange(({ id, overlapS }: { id: string; overlapS: number }) =>
    unwrap(api.POST("/v1/admin/keys/{key_id}/rotate", { params: { path: { key_id: id } }, body: { tenant, overlap_s: overlapS } })),
  );

export const useRevokeKey = (tenant: string) =>
  useAdminChange((id: string) => unwrap(api.DELETE("/v1/admin/keys/{key_id}", { params: { path: { key_id: id }, query: { tenant } } })));

export const useCreateOperator = () => useAdminChange((body: { label: string; role: Role }) => unwrap(api.POST("/v1/admin/operators", { body })));

export const useDeleteOperator = () => useAdminChange((id: string) => unwrap(api.DELETE("/v1/admin/operators/{key_id}", { params: { path: { key_id: id } } })));

/** Changes a tenant that was read at a revision. The service refuses it with 412 if the tenant has changed since. */
export const useUpdateTenant = (tenant: string) =>
  useAdminChange(({ revision, change }: { revision: number; change: Schemas["TenantChange"] }) =>
    unwrap(api.PATCH("/v1/admin/tenants/{tenant}", { params: { path: { tenant }, header: { "If-Match": `"${revision}"` } }, body: change })),
  );
