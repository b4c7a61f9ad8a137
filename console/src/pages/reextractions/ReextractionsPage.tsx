import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { progressQuery, reextractionsQuery, type Reextraction } from "@/api/reextractions";
import { useTenant } from "@/shell/tenant";
import { Badge } from "@/ui/Badge";
import { Code } from "@/ui/Code";
import { formatCount } from "@/ui/format";
import { Ago } from "@/ui/Moment";
import { PageHeader, Panel } from "@/ui/Panel";
import { Empty, QueryState } from "@/ui/states";
import { Table, type Column } from "@/ui/Table";

import { ReextractionDialog } from "./ReextractionDialog";
import { stateOf, stateOfRunning } from "./state";

const route = getRouteApi("/reextractions");

export function ReextractionsPage() {
  const tenant = useTenant();
  const { generation } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(reextractionsQuery);
  const open = (name: string | undefined) => void navigate({ search: (before) => ({ ...before, generation: name }) });
  const shown = (runs: Reextraction[]) => runs.filter((run) => !tenant || run.tenants.includes(tenant)).reverse();
  const columns: Column<Reextraction>[] = [
    {
      key: "generation",
      title: "Generation",
      cell: (run) => (
        <button type="button" className="text-left font-medium text-accent hover:underline" onClick={() => open(run.generation)}>
          {run.generation}
        </button>
      ),
    },
    { key: "state", title: "State", cell: (run) => <State run={run} /> },
    { key: "tenants", title: "Tenants", cell: (run) => <Tenants names={run.tenants} /> },
    { key: "windows", title: "Windows (estimate)", align: "right", wide: true, cell: (run) => formatCount(run.estimate.windows) },
    { key: "started", title: "Started", cell: (run) => <Ago at={run.started_at} /> },
    { key: "by", title: "By", wide: true, cell: (run) => run.started_by },
  ];
  return (
    <>
      <PageHeader
        title="Re-extractions"
        purpose="A re-extraction extracts all past messages again, with another schema, method or model, into a further generation. Recalls read it once you make it live."
      />
      <Panel title={tenant ? `Re-extractions of ${tenant}` : "Re-extractions"} note="newest first" flush>
        <QueryState query={query} isEmpty={(runs) => shown(runs).length === 0} empty={<None />}>
          {(runs) => <Table caption="Re-extractions" columns={columns} rows={shown(runs)} rowKey={(run) => run.generation} selected={generation} />}
        </QueryState>
      </Panel>
      {generation && <ReextractionDialog key={generation} generation={generation} onClose={() => open(undefined)} />}
    </>
  );
}

function None() {
  return (
    <Empty title="There is no re-extraction">
      This command estimates one, asks, and starts it: <Code text="varve generations start NAME --tenant TENANT" />
    </Empty>
  );
}

const MOST_NAMES = 3;

function Tenants({ names }: { names: string[] }) {
  const more = names.length - MOST_NAMES;
  return (
    <>
      {names.slice(0, MOST_NAMES).join(", ")}
      {more > 0 && ` and ${formatCount(more)} more`}
    </>
  );
}

/** The state; of a running one also what it waits for. */
function State({ run }: { run: Reextraction }) {
  return run.state === "running" ? <Running generation={run.generation} /> : <StateBadge state={stateOf(run)} />;
}

function Running({ generation }: { generation: string }) {
  const { data, isError } = useQuery(progressQuery(generation));
  return <StateBadge state={data ? stateOfRunning(data) : isError ? { tone: "neutral", text: "unknown" } : { tone: "neutral", text: "reading" }} />;
}

function StateBadge({ state }: { state: ReturnType<typeof stateOf> }) {
  return <Badge tone={state.tone}>{state.text}</Badge>;
}
