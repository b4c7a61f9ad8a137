import type { Usage, UsageRow } from "@/api/pipeline";

export type Dimension = "tenant" | "model" | "stage" | "purpose";

export const DIMENSIONS: { value: Dimension; label: string }[] = [
  { value: "tenant", label: "Tenant" },
  { value: "model", label: "Model" },
  { value: "stage", label: "Stage" },
  { value: "purpose", label: "Purpose" },
];

export interface Group {
  name: string;
  rows: UsageRow[];
  calls: number;
  estimated: number;
  prompt: number;
  cached: number;
  completion: number;
  cost: number;
  latencyMs: number;
}

/** Sums the calls by one dimension, the largest first. */
export function groupUsage(usage: Usage, dimension: Dimension): Group[] {
  const groups = new Map<string, Group>();
  for (const row of usage.rows) {
    const name = row[dimension] || "unnamed";
    const group = groups.get(name) ?? { name, rows: [], calls: 0, estimated: 0, prompt: 0, cached: 0, completion: 0, cost: 0, latencyMs: 0 };
    group.rows.push(row);
    group.calls += row.calls;
    group.estimated += row.estimated_calls;
    group.prompt += row.prompt_tokens;
    group.cached += row.cached_tokens;
    group.completion += row.completion_tokens;
    group.cost += row.cost;
    group.latencyMs += row.latency_ms;
    groups.set(name, group);
  }
  return [...groups.values()].sort((left, right) => right.cost - left.cost || right.prompt + right.completion - left.prompt - left.completion);
}

export interface Series {
  name: string;
  values: number[];
}

const MOST_SERIES = 6;

/** The values of the largest groups, and the sum of all others, in each column. */
export function topSeries(groups: Group[], columns: string[], measure: (row: UsageRow) => number): Series[] {
  const sums = (rows: UsageRow[]) => columns.map((day) => rows.filter((row) => row.day === day).reduce((sum, row) => sum + measure(row), 0));
  const series = groups.slice(0, MOST_SERIES).map((group) => ({ name: group.name, values: sums(group.rows) }));
  const others = groups.slice(MOST_SERIES);
  if (others.length > 0) series.push({ name: `${others.length} others`, values: sums(others.flatMap((group) => group.rows)) });
  return series;
}

export function formatCost(value: number): string {
  return value === 0 ? "0" : value < 0.01 ? value.toPrecision(2) : value.toFixed(2);
}
