import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, fetchJson, unwrap } from "./client";

export interface SessionRow {
  session: string;
  user: string | null;
  last_message_at: string | null;
  messages: number | null;
  windows: number | null;
  open_window: { sequence: number; message_count: number } | null;
}

export function sessionsQuery(user: string | undefined) {
  return infiniteQueryOptions({
    queryKey: ["sessions", "list", user],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const query = new URLSearchParams({ limit: "50" });
      if (user) query.set("user", user);
      if (pageParam) query.set("after", pageParam);
      return fetchJson<{ sessions: SessionRow[]; next: string | null }>("GET", `/v1/sessions?${query.toString()}`);
    },
    getNextPageParam: (last) => last.next ?? undefined,
  });
}

export interface SessionMessage {
  id: string;
  user?: string;
  role?: string;
  speaker?: string;
  text: string;
  event_time?: string;
}

export function sessionQueryOf(session: string) {
  return queryOptions({
    queryKey: ["sessions", "one", session],
    queryFn: () => unwrap(api.GET("/v1/sessions/{session}", { params: { path: { session } } })),
  });
}

export interface PreviewEvent {
  type: string;
  content: string;
  event_time: string | null;
  importance: number;
  keywords: string[];
  evidence: string[];
}

export interface PreviewPatch {
  entity_type: string;
  entity_key: string;
  property: string;
  search: string;
  replace: string;
  evidence: string[];
}

export interface Preview {
  events: PreviewEvent[];
  patches: PreviewPatch[];
  drops: { reason: string; count: number }[];
  extractor: string;
}

/** What the extraction would store for the session's window. Nothing is stored; with a model it costs one call. */
export function usePreview(session: string) {
  return useMutation({ mutationFn: () => fetchJson<Preview>("POST", `/v1/sessions/${encodeURIComponent(session)}/preview`) });
}

/** Closes the open window of a session. */
export function useFlush(session: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/v1/flush", { body: { session } })),
    onSuccess: async () => client.invalidateQueries({ queryKey: ["sessions"] }),
  });
}
