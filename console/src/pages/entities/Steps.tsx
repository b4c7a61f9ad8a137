import type { Step } from "@/api/entities";
import { Badge, type Tone } from "@/ui/Badge";
import { counted, inWords, listed } from "@/ui/format";
import { Ago, Moment } from "@/ui/Moment";
import { Empty } from "@/ui/states";
import { Value } from "@/ui/Value";

const FATES: Record<string, Tone> = { stands: "good", superseded: "neutral", wrong: "bad", extracted_again: "neutral", expired: "warn", merged: "accent" };

/** The changes of an entity, oldest first. */
export function Steps({ steps }: { steps: Step[] }) {
  if (steps.length === 0) return <Empty title="No step is kept" />;
  return (
    <ol aria-label="History" className="space-y-3">
      {steps.map((step) => (
        <li key={step.id} className="rounded-md border px-3 py-2">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
            <Badge tone={step.kind === "correction" ? "warn" : "accent"}>{step.kind}</Badge>
            <Moment at={step.time} />
            <span>
              recorded <Ago at={step.recorded_at} />
            </span>
          </p>
          <ul className="mt-2 space-y-1.5 text-sm">
            {Object.keys(step.after).map((property) => (
              <li key={property} className="grid gap-x-3 sm:grid-cols-[8rem_1fr]">
                <span className="text-muted">{inWords(property)}</span>
                <span>
                  <Before value={step.before[property]} />
                  <span aria-hidden> → </span>
                  <Value value={step.after[property]} />
                </span>
              </li>
            ))}
          </ul>
          <Changes step={step} />
        </li>
      ))}
    </ol>
  );
}

/** The value that was replaced. Nothing is not struck through. */
function Before({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === "") return <Value value={value} />;
  return (
    <del className="text-muted">
      <Value value={value} />
    </del>
  );
}

function Changes({ step }: { step: Step }) {
  if (step.changes.length === 0) return null;
  return (
    <details className="mt-2">
      <summary className="text-xs text-muted">
        {counted(step.changes.length, "change")} with evidence
      </summary>
      <ul className="mt-1 space-y-1 text-xs">
        {step.changes.map((change, index) => (
          <li key={index} className="flex flex-wrap items-center gap-x-2">
            <span className="font-mono">
              {change.op} {change.property}
            </span>
            {change.fate && <Badge tone={FATES[change.fate] ?? "neutral"}>{inWords(change.fate)}</Badge>}
            <span className="text-muted">messages {listed(change.evidence) || "none"}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
