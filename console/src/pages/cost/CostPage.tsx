import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { usageQuery, type Usage } from "@/api/pipeline";
import { readsWholeTenant, usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { StackedBars } from "@/ui/charts/StackedBars";
import { Count } from "@/ui/Count";
import { Figure } from "@/ui/Facts";
import { SelectField } from "@/ui/Field";
import { formatCount, formatDay } from "@/ui/format";
import { PageHeader, Panel } from "@/ui/Panel";
import { Empty, NotForYou, QueryState } from "@/ui/states";

import { Budgets } from "./Budgets";
import { DIMENSIONS, formatCost, groupUsage, topSeries, type Dimension } from "./groups";
import { UsageTable } from "./UsageTable";

const route = getRouteApi("/cost");
const PERIODS = [
  { value: "1", label: "Today" },
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
];

export function CostPage() {
  return (
    <>
      <PageHeader title="Cost" purpose="Calls of language models with their tokens and cost, by day (UTC), and today’s use of each budget." />
      {readsWholeTenant(usePrincipal()) ? <Costs /> : <NotForYou title="Your key does not show the cost">It needs the scope “operate”, and must not be bound to a user.</NotForYou>}
    </>
  );
}

function Costs() {
  const principal = usePrincipal();
  const tenant = useTenant();
  const { by } = route.useSearch();
  const navigate = route.useNavigate();
  const [days, setDays] = useState(7);
  const query = useQuery(usageQuery(principal, tenant, days));
  const dimensions = DIMENSIONS.filter((each) => each.value !== "tenant" || principal.kind === "operator");
  const dimension = dimensions.find((each) => each.value === by)?.value ?? "model";
  return (
    <>
      <div className="flex flex-wrap gap-3">
        <SelectField label="Period" className="w-32" options={PERIODS} value={String(days)} onChange={(event) => setDays(Number(event.target.value))} />
        <SelectField
          label="Group by"
          className="w-36"
          options={dimensions}
          value={dimension}
          onChange={(event) => void navigate({ search: (before) => ({ ...before, by: event.target.value }) })}
        />
      </div>
      <QueryState query={query} rows={8}>
        {(usage) => <Shown usage={usage} days={days} dimension={dimension} />}
      </QueryState>
    </>
  );
}

function Shown({ usage, days, dimension }: { usage: Usage; days: number; dimension: Dimension }) {
  const groups = groupUsage(usage, dimension);
  const total = (pick: (row: Usage["rows"][number]) => number) => usage.rows.reduce((sum, row) => sum + pick(row), 0);
  const prompt = total((row) => row.prompt_tokens);
  const cached = total((row) => row.cached_tokens);
  const columns = dayNames(days);
  const measure = usage.priced ? (row: Usage["rows"][number]) => row.cost : (row: Usage["rows"][number]) => row.prompt_tokens + row.completion_tokens;
  const series = topSeries(groups, columns, measure);
  return (
    <>
      <section aria-label="Totals" className="grid grid-cols-2 gap-4 rounded-lg border bg-panel p-4 sm:grid-cols-4">
        <Figure name="Cost" value={usage.priced ? formatCost(total((row) => row.cost)) : "–"} note={usage.priced ? "in the currency of the price table" : "no price table is set"} />
        <Figure name="Calls" value={<Count value={total((row) => row.calls)} />} />
        <Figure name="Prompt tokens" value={<Count value={prompt} />} note={prompt > 0 ? `${Math.round((cached / prompt) * 100)} % from the provider’s cache` : undefined} />
        <Figure name="Completion tokens" value={<Count value={total((row) => row.completion_tokens)} />} />
      </section>
      <Panel title="Budgets" note="use today (UTC) against the soft and hard limits" flush>
        <Budgets budgets={usage.budgets} priced={usage.priced} />
      </Panel>
      <Panel title={usage.priced ? "Cost by day" : "Tokens by day"}>
        {usage.rows.length === 0 ? (
          <Empty title="No model was called in this period">Without a language model, rules extract, at no cost.</Empty>
        ) : (
          <StackedBars
            label={usage.priced ? "Cost by day" : "Tokens by day"}
            columns={columns}
            series={series}
            formatValue={usage.priced ? formatCost : formatCount}
            formatColumn={formatDay}
          />
        )}
      </Panel>
      {usage.rows.length > 0 && (
        <Panel title={`By ${dimension}`} note={usage.truncated ? "the groups with the most tokens" : undefined} flush>
          <UsageTable groups={groups} dimension={dimension} priced={usage.priced} />
        </Panel>
      )}
    </>
  );
}

/** The days (UTC) of the period, oldest first. */
function dayNames(days: number): string[] {
  return Array.from({ length: days }, (_, index) => {
    const day = new Date();
    day.setUTCDate(day.getUTCDate() - (days - 1 - index));
    return day.toISOString().slice(0, 10);
  });
}
