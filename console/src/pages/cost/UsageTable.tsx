import { Count } from "@/ui/Count";
import { formatSeconds } from "@/ui/format";
import { Table, type Column } from "@/ui/Table";

import { DIMENSIONS, formatCost, type Dimension, type Group } from "./groups";

export function UsageTable({ groups, dimension, priced }: { groups: Group[]; dimension: Dimension; priced: boolean }) {
  const title = DIMENSIONS.find((each) => each.value === dimension)?.label ?? dimension;
  const columns: Column<Group>[] = [
    { key: "name", title, cell: (group) => <span className="font-medium">{group.name}</span> },
    { key: "calls", title: "Calls", align: "right", cell: (group) => <Count value={group.calls} /> },
    { key: "prompt", title: "Prompt tokens", align: "right", cell: (group) => <Count value={group.prompt} /> },
    { key: "cached", title: "Cached", align: "right", wide: true, cell: (group) => <Count value={group.cached} /> },
    { key: "completion", title: "Completion tokens", align: "right", cell: (group) => <Count value={group.completion} /> },
    { key: "latency", title: "Mean time", align: "right", wide: true, cell: (group) => formatSeconds(group.latencyMs / Math.max(group.calls, 1) / 1000) },
  ];
  if (priced) columns.push({ key: "cost", title: "Cost", align: "right", cell: (group) => formatCost(group.cost) });
  return <Table caption={`Usage by ${dimension}`} columns={columns} rows={groups} rowKey={(group) => group.name} />;
}
