import { queryOptions } from "@tanstack/react-query";

import { useChange } from "./change";
import { api, unwrap, type Schemas } from "./client";

export type Reextraction = Schemas["ReextractionView"];
export type Progress = Schemas["ReextractionProgress"];
export type NewLimits = Schemas["BudgetBody"];

const POLL_MS = 5_000;

/** All re-extractions, the oldest first, for an operator. */
export const reextractionsQuery = queryOptions({
  queryKey: ["reextractions", "list"],
  queryFn: async () => (await unwrap(api.GET("/v1/admin/reextractions"))).reextractions,
  refetchInterval: POLL_MS,
});

/** One re-extraction with its progress, read again while it can change by itself. */
export function progressQuery(generation: string) {
  return queryOptions({
    queryKey: ["reextractions", "one", generation],
    queryFn: () => unwrap(api.GET("/v1/admin/reextractions/{generation}", { params: { path: { generation } } })),
    refetchInterval: (query) => (["running", "cancelling"].includes(query.state.data?.state ?? "running") ? POLL_MS : false),
  });
}

const useReextractionChange = <Input>(change: (input: Input) => Promise<unknown>) => useChange(change, "reextractions", "admin");

const path = (generation: string) => ({ path: { generation } });

export const usePause = (generation: string) => useReextractionChange<undefined>(() => unwrap(api.POST("/v1/admin/reextractions/{generation}/pause", { params: path(generation) })));

export const useResume = (generation: string) =>
  useReextractionChange((limits: NewLimits) => unwrap(api.POST("/v1/admin/reextractions/{generation}/resume", { params: path(generation), body: limits })));

export const useCancel = (generation: string) => useReextractionChange<undefined>(() => unwrap(api.POST("/v1/admin/reextractions/{generation}/cancel", { params: path(generation) })));
