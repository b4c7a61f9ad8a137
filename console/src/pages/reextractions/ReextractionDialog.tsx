import { useQuery } from "@tanstack/react-query";

import { progressQuery, type Progress } from "@/api/reextractions";
import { Badge } from "@/ui/Badge";
import { Bar } from "@/ui/Bar";
import { Dialog } from "@/ui/Dialog";
import { Facts, Figure } from "@/ui/Facts";
import { counted, formatCount, formatSeconds } from "@/ui/format";
import { Ago, Moment } from "@/ui/Moment";
import { QueryState } from "@/ui/states";

import { formatCost } from "../cost/groups";
import { ReextractionActions } from "./ReextractionActions";
import { stateOfRunning } from "./state";

export function ReextractionDialog({ generation, onClose }: { generation: string; onClose: () => void }) {
  const query = useQuery(progressQuery(generation));
  return (
    <Dialog title={`Re-extraction into ${generation}`} shape="sheet" onClose={onClose}>
      <QueryState query={query}>{(progress) => <Shown progress={progress} />}</QueryState>
    </Dialog>
  );
}

function Shown({ progress }: { progress: Progress }) {
  const state = stateOfRunning(progress);
  const isUnfinished = ["running", "paused"].includes(progress.state);
  return (
    <div className="space-y-5">
      <div className="space-y-2">
        <Badge tone={state.tone}>{state.text}</Badge>
        {progress.reason && <p className="text-sm">{progress.reason}</p>}
        <Waits progress={progress} />
        {progress.advice && (
          <p className="text-sm">
            <WithCommands text={capitalised(progress.advice)} />
          </p>
        )}
      </div>
      <ReextractionActions progress={progress} />
      <section aria-label="Progress" className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        <div>
          <Figure name="Windows done" value={`${Math.floor(progress.share * 100)} %`} note={progress.caught_up ? "all that have closed" : `${counted(progress.windows_left, "window")} left`} />
          <div className="mt-1.5">
            <Bar value={progress.share} scale={1} />
          </div>
        </div>
        {isUnfinished && <Figure name="Time left" value={progress.left_s === null ? "–" : formatSeconds(progress.left_s)} note={progress.left_s === null ? "unknown" : "at the rate since its last start"} />}
        <Figure name="Model calls" value={formatCount(progress.calls)} />
      </section>
      <Facts
        items={[
          ["Tenants", progress.tenants.join(", ")],
          ["Tokens", spent(progress.tokens, progress.budget.tokens, formatCount)],
          ["Cost", spent(progress.cost, progress.budget.cost, formatCost)],
          ["Rate", progress.budget.calls_per_minute === null ? "no limit" : `at most ${counted(progress.budget.calls_per_minute, "call")} per minute`],
          ["Workers", progress.workers],
          ["Parked", progress.parked > 0 && `${counted(progress.parked, "window")}, because the model does not answer`],
          ["Started", <Ago key="started" at={progress.started_at} full />],
          ["By", progress.started_by],
          ["Only windows since", progress.since && <Moment at={progress.since} />],
          ["Estimated", `${counted(progress.estimate.windows, "window")}, ${counted(progress.estimate.calls, "call")}, ${counted(progress.estimate.prompt_tokens + progress.estimate.completion_tokens, "token")}`],
        ]}
      />
    </div>
  );
}

function spent(used: number, limit: number | null, format: (value: number) => string): string {
  return limit === null ? `${format(used)}, no limit` : `${format(used)} of ${format(limit)}`;
}

/** What it waits for, one line for each reason. */
function Waits({ progress }: { progress: Progress }) {
  const { yields_to: stage, waits_for_budget: tenants } = progress;
  if (stage === null && tenants.length === 0) return null;
  return (
    <ul aria-label="Waits" className="space-y-1.5 text-sm">
      {stage !== null && <li>It waits for live traffic: {stage}.</li>}
      {tenants.map((wait) => (
        <li key={wait.tenant}>
          Until <Ago at={wait.until} full />: {wait.reason}.
        </li>
      ))}
    </ul>
  );
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A text of the service in which backticks mark commands. */
function WithCommands({ text }: { text: string }) {
  return text.split("`").map((part, index) => (index % 2 ? <code key={index} className="font-mono text-xs">{part}</code> : part));
}
