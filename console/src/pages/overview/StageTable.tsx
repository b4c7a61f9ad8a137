import { Link } from "@tanstack/react-router";

import type { Stage } from "@/api/pipeline";
import { Badge, type Tone } from "@/ui/Badge";
import { formatCount, formatSeconds } from "@/ui/format";
import { Table, type Column } from "@/ui/Table";

const none = <span className="text-muted">–</span>;
const DAY_S = 86_400;

interface State {
  tone: Tone;
  text: string;
}

/** The state of a stage in one word. */
function stateOf(stage: Stage): State {
  if (stage.unfinished) return { tone: "warn", text: `waits for ${stage.unfinished}` };
  if (stage.retention_left_s !== null && stage.retention_left_s < 0) return { tone: "bad", text: "records at risk" };
  if (stage.retention_left_s !== null && stage.retention_left_s < DAY_S) return { tone: "warn", text: "retention ends soon" };
  if ((stage.parked ?? 0) > 0) return { tone: "warn", text: "records wait" };
  if ((stage.oldest_s ?? 0) > 60) return { tone: "warn", text: "late" };
  if (stage.oldest_s !== null) return { tone: "accent", text: "working" };
  return { tone: "good", text: "up to date" };
}

export function StageTable({ stages, isOperator }: { stages: Stage[]; isOperator: boolean }) {
  const columns: Column<Stage>[] = [
    { key: "name", title: "Stage", cell: (stage) => <span className="font-medium">{stage.name}</span> },
    { key: "state", title: "State", cell: (stage) => <StateBadge state={stateOf(stage)} /> },
    { key: "oldest", title: "Oldest record", align: "right", cell: (stage) => (stage.oldest_s === null ? none : formatSeconds(stage.oldest_s)) },
    { key: "parked", title: "Waiting", align: "right", cell: (stage) => (stage.parked === null ? none : formatCount(stage.parked)) },
  ];
  if (isOperator) {
    columns.splice(
      2,
      0,
      { key: "rate", title: "Records/s", align: "right", cell: (stage) => (stage.rate === null ? none : formatCount(stage.rate)) },
      { key: "lag", title: "Lag", align: "right", cell: (stage) => (stage.lag === null ? none : formatCount(stage.lag)) },
    );
    columns.push(
      { key: "retention", title: "Retention left", align: "right", wide: true, cell: (stage) => (stage.retention_left_s === null ? none : formatSeconds(stage.retention_left_s)) },
      { key: "tenants", title: "Tenants that wait", wide: true, cell: (stage) => waiting(stage) },
    );
  }
  return <Table caption="Stages" columns={columns} rows={stages} rowKey={(stage) => stage.name} />;
}

function StateBadge({ state }: { state: State }) {
  return <Badge tone={state.tone}>{state.text}</Badge>;
}

function waiting(stage: Stage) {
  const tenants = Object.entries(stage.parked_by_tenant);
  if (tenants.length === 0) return none;
  return (
    <ul className="text-xs">
      {tenants.map(([tenant, count]) => (
        <li key={tenant}>
          <Link to="/cost" search={{ tenant }} className="text-accent underline">
            {tenant}
          </Link>{" "}
          ({formatCount(count)})
        </li>
      ))}
    </ul>
  );
}
