import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { entityQuery, historyQuery, type Step } from "@/api/entities";
import { ApiError } from "@/api/errors";
import { Badge } from "@/ui/Badge";
import { SelectField } from "@/ui/Field";
import { formatTime, readableKey } from "@/ui/format";
import { LoadMore } from "@/ui/LoadMore";
import { Panel } from "@/ui/Panel";
import { Empty, QueryState } from "@/ui/states";

import { changeTimes, momentAt, type Clock } from "./moments";
import { StateTable } from "./StateTable";
import { Steps } from "./Steps";
import { TimeSlider } from "./TimeSlider";

const route = getRouteApi("/entities");

const CLOCKS = [
  { value: "as_of", label: "What was true" },
  { value: "known_at", label: "What was known" },
];

/** An entity at a time, and its changes. */
export function EntityView({ path }: { path: string }) {
  const slash = path.indexOf("/");
  const [type, key] = [path.slice(0, slash), path.slice(slash + 1)];
  const history = useInfiniteQuery(historyQuery(type, key));
  const steps = history.data?.pages.flatMap((page) => page.steps) ?? [];
  const isComplete = history.data?.pages.every((page) => page.complete) ?? true;
  return (
    <div className="min-w-0 space-y-4">
      <AtMoment type={type} entityKey={key} steps={steps} />
      <Panel title="Changes" note={isComplete ? "oldest first" : "oldest first; older changes are no longer kept"}>
        {isMissing(history.error) ? <Empty title="No change is known" /> : <QueryState query={history}>{() => <Steps steps={steps} />}</QueryState>}
        <LoadMore query={history} className="pt-3" />
      </Panel>
    </div>
  );
}

const isMissing = (error: Error | null): error is ApiError => error instanceof ApiError && error.status === 404;

function AtMoment({ type, entityKey, steps }: { type: string; entityKey: string; steps: Step[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const clock: Clock = search.by === "known_at" ? "known_at" : "as_of";
  const times = changeTimes(steps, clock);
  const found = times.indexOf(search.at ?? "");
  const position = found >= 0 ? found : times.length;
  const query = useQuery(entityQuery(type, entityKey, momentAt(times, position, clock)));
  const move = (next: number) => void navigate({ replace: true, search: (before) => ({ ...before, at: times[next] }) });
  const missing = isMissing(query.error) ? query.error : null;
  const time = times[position];
  return (
    <Panel
      title={
        <>
          {readableKey(entityKey)} <span className="ml-1 font-mono text-xs font-normal text-muted">{type}</span>
        </>
      }
      actions={
        <SelectField
          label="Time"
          hideLabel
          className="w-48"
          options={CLOCKS}
          value={clock}
          onChange={(event) => void navigate({ search: (before) => ({ ...before, by: event.target.value, at: undefined }) })}
        />
      }
    >
      {times.length > 0 && <TimeSlider times={times} position={position} onMove={move} />}
      <p role="status" className="mt-3 mb-2 flex flex-wrap items-center gap-2 text-sm">
        <span className="text-muted">{clock === "as_of" ? "State as of" : "State as known at"}</span>
        <span className="font-medium">{time === undefined ? "now" : formatTime(time)}</span>
        {query.isFetching && <Badge>reading</Badge>}
      </p>
      {missing ? (
        <Empty title={times.length === 0 ? "There is no such entity" : "There was no state at this time"}>{missing.message}</Empty>
      ) : (
        <QueryState query={query}>{(entity) => <StateTable entity={entity} />}</QueryState>
      )}
    </Panel>
  );
}
