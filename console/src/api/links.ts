import { queryOptions } from "@tanstack/react-query";

import { fetchJson } from "./client";

export interface LinkNode {
  id: string;
  kind: string;
  type: string;
  content: string;
  user: string | null;
}

export interface LinkEdge {
  source: string;
  target: string;
  relation: string;
  score: number | null;
}

export interface LinkGraph {
  available: boolean;
  nodes: LinkNode[];
  edges: LinkEdge[];
  truncated: boolean;
}

export function linksQuery(user: string | undefined) {
  return queryOptions({
    queryKey: ["links", user],
    queryFn: () => fetchJson<LinkGraph>("GET", `/v1/links${user ? `?${new URLSearchParams({ user }).toString()}` : ""}`),
    staleTime: 30_000,
  });
}
