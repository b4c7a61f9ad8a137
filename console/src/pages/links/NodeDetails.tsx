import { Link } from "@tanstack/react-router";

import type { LinkGraph, LinkNode } from "@/api/links";
import { Badge } from "@/ui/Badge";
import { formatScore, inWords } from "@/ui/format";

interface Props {
  graph: LinkGraph;
  node: LinkNode;
  onChoose: (id: string) => void;
}

export function NodeDetails({ graph, node, onChoose }: Props) {
  const links = graph.edges.filter((edge) => edge.source === node.id || edge.target === node.id);
  const byId = new Map(graph.nodes.map((each) => [each.id, each]));
  return (
    <div className="space-y-4 text-sm">
      <div className="space-y-1.5">
        <p className="flex gap-2">
          <Badge tone="accent">{node.kind}</Badge>
          <span className="font-mono text-xs">{node.type}</span>
        </p>
        <p>{node.content}</p>
        <Link to="/memories" search={{ memory: node.id }} className="text-accent underline">
          Open the memory
        </Link>
      </div>
      <ul aria-label="Links of this memory" className="divide-y border-t">
        {links.map((edge, index) => {
          const other = byId.get(edge.source === node.id ? edge.target : edge.source);
          return (
            <li key={index} className="py-2">
              <p className="text-xs text-muted">
                {inWords(edge.relation)}
                {` · ${formatScore(edge.score)}`}
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
