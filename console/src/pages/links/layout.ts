import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type SimulationLinkDatum, type SimulationNodeDatum } from "d3-force";

import type { LinkEdge, LinkNode } from "@/api/links";

export interface Placed extends SimulationNodeDatum {
  node: LinkNode;
  degree: number;
  x: number;
  y: number;
}

export interface Layout {
  nodes: Placed[];
  edges: { edge: LinkEdge; source: Placed; target: Placed }[];
  box: { x: number; y: number; width: number; height: number };
}

const ROUNDS = 220;
const MARGIN = 40;
/** The smallest picture: a few nodes are not drawn larger than many. */
const SMALLEST = { width: 480, height: 300 };

/** Places the nodes so that linked ones are near each other. The same graph always gets the same picture. */
export function layOut(nodes: LinkNode[], edges: LinkEdge[]): Layout {
  const degrees = new Map<string, number>();
  for (const edge of edges) for (const id of [edge.source, edge.target]) degrees.set(id, (degrees.get(id) ?? 0) + 1);
  const placed: Placed[] = nodes.map((node, index) => ({ node, degree: degrees.get(node.id) ?? 0, x: 30 * Math.sqrt(index) * Math.cos(index * 2.4), y: 30 * Math.sqrt(index) * Math.sin(index * 2.4) }));
  const byId = new Map(placed.map((each) => [each.node.id, each]));
  const lines = edges.flatMap((edge) => {
    const [source, target] = [byId.get(edge.source), byId.get(edge.target)];
    return source && target ? [{ edge, source, target }] : [];
  });
  forceSimulation(placed)
    .force("link", forceLink<Placed, SimulationLinkDatum<Placed>>(lines.map(({ source, target }) => ({ source, target }))).distance(75))
    .force("charge", forceManyBody().strength(-110).distanceMax(400))
    .force("collide", forceCollide(14))
    .force("x", forceX(0).strength(0.06))
    .force("y", forceY(0).strength(0.09))
    .stop()
    .tick(ROUNDS);
  const xs = placed.map((each) => each.x);
  const ys = placed.map((each) => each.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const width = Math.max(right - left + 2 * MARGIN, SMALLEST.width);
  const height = Math.max(bottom - top + 2 * MARGIN, SMALLEST.height);
  return { nodes: placed, edges: lines, box: { x: (left + right - width) / 2, y: (top + bottom - height) / 2, width, height } };
}
