import { infiniteQueryOptions, queryOptions, useMutation } from "@tanstack/react-query";

import { useChange } from "./change";
import { api, unwrap, type Schemas } from "./client";

export type SessionRow = Schemas["SessionSummary"];
export type Preview = Schemas["PreviewView"];

export interface ExtractedEvent {
  type: string;
  content: string;
  event_time: string | null;
  importance: number;
  message_ids: string[];
}

export interface ExtractedPatch {
  entity_type: string;
  entity_key: string;
  field: string;
  search: string;
  replace: string;
  message_ids: string[];
}

/** A window with what its extraction would store. The API describes the records as free objects. */
export interface DryWindow extends Omit<Schemas["DryWindowView"], "messages" | "events" | "patches" | "dropped"> {
  messages: SessionMessage[];
  events: ExtractedEvent[];
  patches: ExtractedPatch[];
  dropped: { what: string; reason: string; count: number; names: string[] | null }[];
}

export interface SessionMessage {
  id: string;
  user?: string;
  role?: string;
  speaker?: string | null;
  text: string;
  event_time?: string;
}

export function sessionsQuery(user: string | undefined) {
  return infiniteQueryOptions({
    queryKey: ["sessions", "list", user],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => unwrap(api.GET("/v1/sessions", { params: { query: { user, after: pageParam, limit: 50 } } })),
    getNextPageParam: (last) => last.next ?? undefined,
  });
}

export function sessionTailQuery(session: string) {
  return queryOptions({
    queryKey: ["sessions", "one", session],
    queryFn: () => unwrap(api.GET("/v1/sessions/{session}", { params: { path: { session } } })),
  });
}

/** What the extraction would store for the newest windows of a session. Nothing is stored; with a model it costs a call for each window. */
export function usePreview(session: string) {
  return useMutation({
    mutationFn: async (body: Schemas["PreviewRequest"]) => {
      const preview = await unwrap(api.POST("/v1/sessions/{session}/preview", { params: { path: { session } }, body }));
      return { ...preview, windows: preview.windows as unknown as DryWindow[] };
    },
  });
}

/** Closes the open window of a session. */
export function useFlush(session: string) {
  return useChange<undefined, unknown>(() => unwrap(api.POST("/v1/flush", { body: { session } })), "sessions");
}
