import { queryOptions } from "@tanstack/react-query";

import { useChange } from "./change";
import { api, unwrap, type Schemas } from "./client";

export type Generation = Schemas["GenerationView"];

/** A tenant’s generations, for an operator. */
export function generationsQuery(tenant: string) {
  return queryOptions({
    queryKey: ["admin", "generations", tenant],
    queryFn: async () => (await unwrap(api.GET("/v1/admin/generations", { params: { query: { tenant } } }))).generations,
  });
}

const useGenerationChange = <Input, Output>(change: (input: Input) => Promise<Output>) => useChange(change, "admin", "schemas");

export interface NewGeneration {
  name: string;
  schema: string | null;
  method: string | null;
}

export const useAnnounce = (tenant: string) => useGenerationChange((generation: NewGeneration) => unwrap(api.POST("/v1/admin/generations", { body: { tenant, ...generation } })));

/** Makes a generation the live one. The service refuses it while windows are missing. */
export const useSwitch = (tenant: string) =>
  useGenerationChange((name: string) => unwrap(api.POST("/v1/admin/generations/switch", { body: { tenant, name: named(name), incomplete: false } })));

export const useDrop = (tenant: string) => useGenerationChange((name: string) => unwrap(api.POST("/v1/admin/generations/drop", { body: { tenant, name: named(name) } })));

/** The first generation has no name. */
const named = (name: string) => name || "-";
