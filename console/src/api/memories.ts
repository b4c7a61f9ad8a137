import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { useChange } from "./change";
import { api, unwrap, type Schemas } from "./client";

export type Memory = Schemas["MemoryView"];
export type Kind = "event" | "entity" | "summary" | "segment";

export interface MemoryFilter {
  user?: string;
  session?: string;
  kind?: string;
  type?: string;
  since?: string;
  until?: string;
}

const PAGE = 50;

/** A day of the filter as the start of that day in the reader's time zone. An address may have any text in its place, which is no filter. */
export function dayStart(day: string | undefined): string | undefined {
  const start = new Date(`${day ?? ""}T00:00:00`);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}

export function memoriesQuery(filter: MemoryFilter) {
  return infiniteQueryOptions({
    queryKey: ["memories", "list", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET("/v1/memories", {
          params: {
            query: {
              user: filter.user,
              session: filter.session,
              kinds: filter.kind ? [filter.kind as Kind] : undefined,
              types: filter.type ? [filter.type] : undefined,
              since: dayStart(filter.since),
              until: dayStart(filter.until),
              after: pageParam,
              limit: PAGE,
            },
          },
        }),
      ),
    getNextPageParam: (last) => last.next ?? undefined,
  });
}

/** A search among the memories that the filter selects, best first. */
export function searchQuery(text: string, filter: MemoryFilter) {
  return queryOptions({
    queryKey: ["memories", "search", text, filter],
    enabled: text !== "",
    queryFn: () =>
      unwrap(
        api.POST("/v1/recall", {
          body: {
            query: text,
            user: filter.user ?? null,
            kinds: filter.kind ? [filter.kind as Kind] : [],
            types: filter.type ? [filter.type] : [],
            sessions: filter.session ? [filter.session] : [],
            since: dayStart(filter.since) ?? null,
            until: dayStart(filter.until) ?? null,
            min_confidence: 0,
            limit: PAGE,
          },
        }),
      ),
  });
}

export function memoryQuery(id: string) {
  return queryOptions({ queryKey: ["memories", "one", id], queryFn: () => unwrap(api.GET("/v1/memories/{memory_id}", { params: { path: { memory_id: id } } })) });
}

/** The original messages that a memory was extracted from. */
export function evidenceQuery(id: string) {
  return queryOptions({ queryKey: ["memories", "evidence", id], queryFn: () => unwrap(api.GET("/v1/memories/{memory_id}/evidence", { params: { path: { memory_id: id } } })) });
}

const useMemoryChange = <Input, Output>(change: (input: Input) => Promise<Output>) => useChange(change, "memories", "entities");

const path = (id: string) => ({ path: { memory_id: id } });

export const useCorrect = (id: string) =>
  useMemoryChange((body: Schemas["CorrectionBody"]) => unwrap(api.PATCH("/v1/memories/{memory_id}", { params: path(id), body })));

export const useInvalidate = (id: string) =>
  useMemoryChange((reason: string) => unwrap(api.POST("/v1/memories/{memory_id}/invalidate", { params: path(id), body: { reason } })));

export const useRevert = (id: string) => useMemoryChange((reason: string) => unwrap(api.POST("/v1/memories/{memory_id}/revert", { params: path(id), body: { reason } })));

export const useDelete = (id: string) =>
  useMemoryChange((reason: string) => unwrap(api.DELETE("/v1/memories/{memory_id}", { params: { ...path(id), query: { reason } } })));
