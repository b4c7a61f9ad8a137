import type { Recalled, Step } from "@/api/recall";
import { formatScore, inWords } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { Empty } from "@/ui/states";

/** The steps of the recall on a time axis, each with its numbers of candidates. Retrievers run at the same time. */
export function Pipeline({ recalled }: { recalled: Recalled }) {
  const steps = [...(recalled.steps ?? [])].sort((left, right) => left.began_ms - right.began_ms);
  const end = Math.max(recalled.ms, ...steps.map((step) => step.began_ms + step.ms));
  return (
    <Panel title="Pipeline" note={`${recalled.ms} ms in total`}>
      {steps.length === 0 ? (
        <Empty title="The service reported no steps" />
      ) : (
        <ol aria-label="Steps of the pipeline" className="space-y-2">
          {steps.map((step, index) => (
            <li key={`${step.name}/${index}`} className="grid grid-cols-[7rem_minmax(0,1fr)_4.5rem] items-center gap-x-3 text-xs">
              <span className="truncate text-sm">{inWords(step.name)}</span>
              <span aria-hidden className="relative block h-2.5 rounded-sm bg-raised">
                <span
                  className="absolute inset-y-0 min-w-0.5 rounded-sm bg-s1"
                  style={{ left: `${(step.began_ms / end) * 100}%`, width: `${(step.ms / end) * 100}%` }}
                />
              </span>
              <span className="tnum text-right">{formatScore(step.ms)} ms</span>
              <span className="tnum col-span-2 col-start-2 text-muted">{flow(step)}</span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

/** The candidates that a step was given and that it left. */
function flow(step: Step): string {
  const { given, found } = step;
  if (given != null && found != null) return `${given} → ${found} candidates`;
  if (found != null) return `${found} found`;
  return "";
}
