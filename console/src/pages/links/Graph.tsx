import { useMemo } from "react";

import type { LinkGraph } from "@/api/links";
import { SERIES } from "@/ui/charts/scale";
import { cx } from "@/ui/classes";

import { layOut } from "./layout";

const KINDS = ["event", "entity", "summary", "segment"];

function fillOf(kind: string): string {
  return (SERIES[Math.max(KINDS.indexOf(kind), 0)] ?? SERIES[0]).fill;
}

interface Props {
  graph: LinkGraph;
  chosen: string | undefined;
  onChoose: (id: string) => void;
}

/** The picture of the graph. Each node is a button, so the keyboard reaches it. */
export function Graph({ graph, chosen, onChoose }: Props) {
  const { nodes, edges, box } = useMemo(() => layOut(graph.nodes, graph.edges), [graph]);
  const near = new Set(edges.flatMap(({ edge }) => (edge.source === chosen ? [edge.target] : edge.target === chosen ? [edge.source] : [])));
  const kinds = KINDS.filter((kind) => graph.nodes.some((node) => node.kind === kind));
  return (
    <div>
      <svg viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`} role="group" aria-label="Link graph" className="block h-[min(34rem,70dvh)] w-full">
        {edges.map(({ edge, source, target }, index) => {
          const isNear = edge.source === chosen || edge.target === chosen;
          return <line key={index} x1={source.x} y1={source.y} x2={target.x} y2={target.y} strokeWidth={isNear ? 2 : 1} className={isNear ? "stroke-accent" : "stroke-line-strong"} opacity={isNear || !chosen ? 0.9 : 0.35} />;
        })}
        {nodes.map(({ node, degree, x, y }) => {
          const radius = 5 + Math.min(degree, 9) * 0.8;
          const isShown = node.id === chosen || near.has(node.id) || !chosen;
          return (
            <g
              key={node.id}
              role="button"
              tabIndex={0}
              aria-label={`${node.kind}: ${node.content}`}
              aria-pressed={node.id === chosen}
              transform={`translate(${x} ${y})`}
              opacity={isShown ? 1 : 0.45}
              className="group cursor-pointer outline-none"
              onClick={() => onChoose(node.id)}
              onKeyDown={(event) => {
                if (event.key === "Enter" || event.key === " ") {
                  event.preventDefault();
                  onChoose(node.id);
                }
              }}
            >
              <title>{node.content}</title>
              <circle r={radius + 7} fill="transparent" className="group-focus-visible:stroke-accent" strokeWidth={2} />
              <circle r={radius} className={cx(fillOf(node.kind), node.id === chosen ? "stroke-ink" : "stroke-panel")} strokeWidth={2} />
              {(node.id === chosen || near.has(node.id) || (!chosen && nodes.length <= 30)) && (
                <text x={radius + 4} y={4} className="fill-ink text-2xs">
                  {node.content.length > 28 ? `${node.content.slice(0, 27)}…` : node.content}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <p className="flex flex-wrap gap-x-4 gap-y-1 border-t px-4 py-2 text-xs">
        {kinds.map((kind) => (
          <span key={kind} className="inline-flex items-center gap-1.5">
            <svg aria-hidden viewBox="0 0 10 10" className="size-2.5">
              <circle cx="5" cy="5" r="5" className={fillOf(kind)} />
            </svg>
            {kind}
          </span>
        ))}
      </p>
    </div>
  );
}
