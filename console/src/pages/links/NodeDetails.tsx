import type { LinkGraph, LinkNode } from "@/api/links";
import { Badge } from "@/ui/Badge";
import { formatScore, inWords } from "@/ui/format";

import { MemoryLink } from "../memories/MemoryLink";

interface Props {
  graph: LinkGraph;
  node: LinkNode;
  onChoose: (id: string) => void;
}

export function NodeDetails({ graph, node, onChoose }: Props) {
  const links = linksOf(graph, node.id);
  const byId = new Map(graph.nodes.map((each) => [each.id, each]));
  return (
    <div className="space-y-4 text-sm">
      <div className="space-y-1.5">
        <p className="flex gap-2">
          <Badge tone="accent">{node.kind}</Badge>
          <span className="font-mono text-xs">{node.type}</span>
        </p>
        <p>{node.content}</p>
        <MemoryLink id={node.id} className="text-accent underline">
          Open the memory
        </MemoryLink>
      </div>
      <ul aria-label="Links of this memory" className="divide-y border-t">
        {links.map((edge, index) => {
          const other = byId.get(edge.source === node.id ? edge.target : edge.source);
          return (
            <li key={index} className="py-2">
              <p className="text-xs text-muted">
                {`${edge.relation ? inWords(edge.relation) : "linked"} · ${formatScore(edge.score)}`}
              </p>
              {other && (
                <button type="button" className="text-left hover:text-accent hover:underline" onClick={() => onChoose(other.id)}>
                  {other.content}
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** The links of a node. A link that both ends have is listed once. */
function linksOf(graph: LinkGraph, id: string): LinkGraph["edges"] {
  const found = new Map<string, LinkGraph["edges"][number]>();
  for (const edge of graph.edges) {
    const other = edge.source === id ? edge.target : edge.target === id ? edge.source : null;
    if (other !== null) found.set(`${other}/${edge.relation}`, edge);
  }
  return [...found.values()].sort((left, right) => right.score - left.score);
}
