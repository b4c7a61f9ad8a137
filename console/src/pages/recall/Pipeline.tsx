import type { Recalled, Step } from "@/api/recall";
import { Bar } from "@/ui/Bar";
import { formatScore, inWords } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { Empty } from "@/ui/states";

/** The steps of the recall, each with its time and its numbers of candidates. */
export function Pipeline({ recalled }: { recalled: Recalled & { steps?: Step[] } }) {
  const steps = recalled.steps ?? [];
  const longest = Math.max(0, ...steps.map((step) => step.ms));
  return (
    <Panel title="Pipeline" note={`${recalled.ms} ms in total`}>
      {steps.length === 0 ? (
        <Empty title="The service reported no steps" />
      ) : (
        <ol aria-label="Steps of the pipeline" className="space-y-2.5">
          {steps.map((step, index) => (
            <li key={`${step.name}/${index}`} className="grid grid-cols-[6.5rem_minmax(0,1fr)_4.5rem] items-center gap-x-3 text-sm">
              <span className="truncate">{inWords(step.name)}</span>
              <Bar value={step.ms} scale={longest} />
              <span className="tnum text-right text-xs">{formatScore(step.ms)} ms</span>
              <span className="col-span-3 text-xs text-muted">{numbers(step)}</span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function numbers(step: Step): string {
  const flow = step.in !== null && step.out !== null ? `${step.in} in, ${step.out} out` : step.out !== null ? `${step.out} out` : "";
  return [flow, step.detail].filter(Boolean).join(" · ");
}
