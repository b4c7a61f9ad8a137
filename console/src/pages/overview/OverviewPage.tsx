import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { letterCountQuery } from "@/api/letters";
import { overviewQuery, type Overview } from "@/api/pipeline";
import { readsWholeTenant, usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { TimeChart } from "@/ui/charts/TimeChart";
import { Figure } from "@/ui/Facts";
import { formatClock, formatCount, formatSeconds } from "@/ui/format";
import { PageHeader, Panel } from "@/ui/Panel";
import { QueryState } from "@/ui/states";

import { StageTable } from "./StageTable";
import { useReadings } from "./useReadings";

export function OverviewPage() {
  const principal = usePrincipal();
  const query = useQuery(overviewQuery(principal));
  const readings = useReadings(query.data);
  const isOperator = principal.kind === "operator";
  const tenant = useTenant();
  return (
    <>
      <PageHeader
        title="Overview"
        purpose={isOperator ? `Throughput, lag and freshness of each stage, over all tenants. Read every five seconds.${tenant ? ` Only the dead letters are those of ${tenant}.` : ""}` : "How fresh each stage is, and what waits. Read every five seconds. Messages of open windows are not extracted yet: see Sessions."}
      />
      <QueryState query={query} rows={10}>
        {(overview) => (
          <>
            <Figures overview={overview} isOperator={isOperator} />
            <Panel title="Stages" note={<>in the order of the flow, read at {formatClock(overview.read_at)}</>} flush>
              <StageTable stages={overview.stages} isOperator={isOperator} />
            </Panel>
            <div className={isOperator ? "grid grid-cols-1 gap-4 lg:grid-cols-2 2xl:grid-cols-3" : "grid grid-cols-1 gap-4 lg:grid-cols-2"}>
              {isOperator && (
                <Panel title="Throughput" note="records per second">
                  <Rates overview={overview} />
                </Panel>
              )}
              {isOperator && (
                <Panel title="Lag" note="unprocessed records, since this page was opened">
                  <History readings={readings} label="Lag of each stage over time" pick={(stage) => stage.lag} format={formatCount} />
                </Panel>
              )}
              <Panel title="Freshness" note="age of the oldest unprocessed record, since this page was opened">
                <History readings={readings} label="Freshness of each stage over time" pick={(stage) => stage.oldest_s ?? 0} format={formatSeconds} />
              </Panel>
              {!isOperator && (
                <Panel title="Waiting records" note="of this tenant, since this page was opened">
                  <History readings={readings} label="Waiting records of each stage over time" pick={(stage) => stage.parked} format={formatCount} />
                </Panel>
              )}
            </div>
          </>
        )}
      </QueryState>
    </>
  );
}

function Figures({ overview, isOperator }: { overview: Overview; isOperator: boolean }) {
  const sum = (values: (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);
  const oldest = Math.max(...overview.stages.map((stage) => stage.oldest_s ?? 0), 0);
  const slowest = overview.stages.find((stage) => (stage.oldest_s ?? 0) === oldest && oldest > 0);
  const intake = overview.stages[0]?.rate ?? null;
  const parked = overview.stages.map((stage) => stage.parked);
  return (
    <section aria-label="Summary" className="grid grid-cols-2 gap-4 rounded-lg border bg-panel p-4 sm:grid-cols-[repeat(auto-fit,minmax(9rem,1fr))]">
      <Figure name="Oldest unprocessed record" value={oldest === 0 ? "none" : formatSeconds(oldest)} note={slowest ? `in ${slowest.name}` : "everything is processed"} />
      {isOperator ? (
        <>
          <Figure name="Messages" value={intake === null ? "–" : formatCount(intake)} unit={intake === null ? undefined : "/s"} note={intake === null ? "needs a second reading" : "read by the first stage"} />
          <Figure name="Lag" value={formatCount(sum(overview.stages.map((stage) => stage.lag)))} note="records, all stages" />
        </>
      ) : (
        <Figure name="Live memories" value={overview.memories === null ? "–" : formatCount(overview.memories)} note={overview.memories === null ? "not counted yet" : overview.memories === 0 ? "send messages to POST /v1/messages" : "counted within 30 s"} />
      )}
      {parked.every((each) => each === null) ? (
        <Figure name="Waiting" value="–" note="not known for this key" />
      ) : (
        <Figure name="Waiting" value={formatCount(sum(parked))} note="for a budget or a schema" />
      )}
      <OpenLetters />
    </section>
  );
}

/** The number of open dead letters, for who may read them. It is read once a minute: the service reads the whole topic. */
function OpenLetters() {
  const principal = usePrincipal();
  const tenant = useTenant();
  const mayRead = readsWholeTenant(principal);
  const query = useQuery({ ...letterCountQuery(principal, tenant), enabled: mayRead });
  if (!mayRead) return null;
  const count = query.data;
  return (
    <Figure
      name="Open dead letters"
      value={count === undefined ? "–" : formatCount(count)}
      note={
        query.isError ? (
          "could not be read"
        ) : count ? (
          <Link to="/dead-letters" className="text-accent underline">
            Show what failed
          </Link>
        ) : (
          "no record failed"
        )
      }
    />
  );
}

function Rates({ overview }: { overview: Overview }) {
  const series = overview.stages.map((stage) => ({ name: stage.name, values: overview.rates.map((reading) => reading.stages[stage.name] ?? null) }));
  return (
    <TimeChart label="Throughput of each stage over time" times={overview.rates.map((reading) => reading.at)} series={series} formatValue={formatCount} formatTime={formatClock} />
  );
}

interface HistoryProps {
  readings: Overview[];
  label: string;
  pick: (stage: Overview["stages"][number]) => number | null;
  format: (value: number) => string;
}

function History({ readings, label, pick, format }: HistoryProps) {
  const names = readings.at(-1)?.stages.map((stage) => stage.name) ?? [];
  const series = names.map((name) => ({
    name,
    values: readings.map((reading) => {
      const stage = reading.stages.find((each) => each.name === name);
      return stage === undefined ? null : pick(stage);
    }),
  }));
  return <TimeChart label={label} times={readings.map((reading) => reading.read_at)} series={series} formatValue={format} formatTime={formatClock} />;
}
