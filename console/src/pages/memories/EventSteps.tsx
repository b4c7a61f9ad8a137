import type { ReactNode } from "react";

import type { Memory } from "@/api/memories";
import { Badge } from "@/ui/Badge";
import { counted, extractorInWords, inWords } from "@/ui/format";
import { Ago } from "@/ui/Moment";
import { Value } from "@/ui/Value";

interface Correction {
  action: "correct" | "invalidate";
  by: string;
  reason?: string;
  time: string;
  standing: number;
  before: Record<string, unknown>;
}

interface Change {
  name: string;
  before: unknown;
  after: unknown;
}

/** What happened to an event: its messages were said, it was extracted, and people corrected it. */
export function EventSteps({ memory }: { memory: Memory }) {
  const correction = memory.correction as Correction | null | undefined;
  const changes = correction ? changesOf(memory, correction) : [];
  return (
    <ol aria-label="Steps" className="space-y-3">
      {memory.said_at && (
        <Step kind="said" at={memory.said_at}>
          {counted(memory.evidence.length, "message")}
          {memory.session && ` in the session ${memory.session}`}
        </Step>
      )}
      <Step kind="extracted">
        <Value value={changes.find((each) => each.name === "content")?.before ?? memory.content} />
        <span className="block text-xs text-muted">
          {[memory.extractor && `by ${extractorInWords(memory.extractor)}`, `generation ${memory.generation || "first"}`, memory.window_id && `window ${memory.window_id}`].filter(Boolean).join(", ")}
        </span>
      </Step>
      {correction && (
        <Step kind={correction.action === "invalidate" ? "invalidated" : "corrected"} at={correction.time} label="Corrections in force">
          <span className="block text-xs text-muted">
            by {correction.by}
            {correction.reason && `: ${correction.reason}`}
            {correction.standing > 1 && `; the newest of ${correction.standing} corrections in force`}
          </span>
          <ul className="mt-1.5 space-y-1.5">
            {changes.map(({ name, before, after }) => (
              <li key={name} className="grid gap-x-3 sm:grid-cols-[8rem_1fr]">
                <span className="text-muted">{inWords(name)}</span>
                <span>
                  <del className="text-muted">
                    <Value value={before} />
                  </del>
                  <span aria-hidden> → </span>
                  <Value value={after} />
                </span>
              </li>
            ))}
          </ul>
        </Step>
      )}
    </ol>
  );
}

function Step({ kind, at, label, children }: { kind: string; at?: string; label?: string; children: ReactNode }) {
  return (
    <li className="rounded-md border px-3 py-2">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
        <Badge tone={label ? "warn" : "accent"}>{kind}</Badge>
        {at && <Ago at={at} full />}
      </p>
      <section aria-label={label} className="mt-1.5 text-sm">
        {children}
      </section>
    </li>
  );
}

/** The corrected fields. A property is a separate field. */
function changesOf(memory: Memory, correction: Correction): Change[] {
  const now = memory as unknown as Record<string, unknown>;
  return Object.entries(correction.before).flatMap(([name, before]) => {
    if (name !== "properties") return before == null ? [] : [{ name, before, after: now[name] }];
    return Object.entries((before ?? {}) as Record<string, unknown>).map(([property, value]) => ({ name: property, before: value, after: memory.properties[property] }));
  });
}
