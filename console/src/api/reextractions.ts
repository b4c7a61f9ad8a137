import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, unwrap, type Schemas } from "./client";
import { refresh } from "./refresh";

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

function useChange<Input>(change: (input: Input) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: change, onSuccess: () => refresh(client, "reextractions", "admin") });
}

const path = (generation: string) => ({ path: { generation } });

export const usePause = (generation: string) => useChange<undefined>(() => unwrap(api.POST("/v1/admin/reextractions/{generation}/pause", { params: path(generation) })));

export const useResume = (generation: string) =>
  useChange((limits: NewLimits) => unwrap(api.POST("/v1/admin/reextractions/{generation}/resume", { params: path(generation), body: limits })));

export const useCancel = (generation: string) => useChange<undefined>(() => unwrap(api.POST("/v1/admin/reextractions/{generation}/cancel", { params: path(generation) })));
