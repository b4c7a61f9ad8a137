import type { Recalled, Result } from "@/api/recall";
import { Badge } from "@/ui/Badge";
import { Bar } from "@/ui/Bar";
import { formatScore, listed } from "@/ui/format";
import { Moment } from "@/ui/Moment";
import { Empty } from "@/ui/states";

import { MemoryLink } from "../memories/MemoryLink";
import { Content, TypeBadge } from "../memories/MemoryTable";
import { groupParts, scales, type PartGroup } from "./parts";
import { ScoreParts } from "./ScoreParts";

export function Results({ recalled }: { recalled: Recalled }) {
  const rows = recalled.results;
  const groups = groupParts(rows.flatMap((row) => Object.keys(row.parts ?? {})));
  const scale = scales(groups, rows.map((row) => row.parts ?? {}));
  const best = Math.max(0, ...rows.map((row) => row.score));
  return (
    <div>
      {rows.length === 0 ? (
        <Empty title="No memory answers this">
          {recalled.candidates?.length
            ? "The candidates that were considered, and why each was left out, are in the tab Candidates."
            : "The searches found nothing to consider. Check the user’s id, and that the window of its messages is closed: see Sessions."}
        </Empty>
      ) : (
        <ol aria-label="Results" className="divide-y">
          {rows.map((row, index) => (
            <ResultRow key={row.id} row={row} place={index + 1} best={best} groups={groups} scale={scale} />
          ))}
        </ol>
      )}
      {recalled.entities.length > 0 && (
        <section className="mt-2 border-t px-4 pt-3">
          <h3 className="text-xs font-semibold text-muted">Current state of the user, added to the results</h3>
          <ul className="mt-2 space-y-2 text-sm">
            {recalled.entities.map((entity) => (
              <li key={entity.id}>
                <span className="mr-2">
                  <TypeBadge memory={entity} />
                </span>
                <MemoryLink id={entity.id}>{entity.content}</MemoryLink>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

interface RowProps {
  row: Result;
  place: number;
  best: number;
  groups: PartGroup[];
  scale: Record<string, number>;
}

function ResultRow({ row, place, best, groups, scale }: RowProps) {
  return (
    <li className="px-4 py-3">
      <div className="flex gap-3">
        <span className="tnum w-5 shrink-0 pt-0.5 text-right text-sm text-muted">{place}</span>
        <div className="min-w-0 flex-1">
          <p className="text-sm">
            <MemoryLink id={row.id}>
              <Content memory={row} />
            </MemoryLink>
          </p>
          <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
            <TypeBadge memory={row} />
            <Moment at={row.event_time} precise={false} />
            {row.evidence.length > 0 && <span>messages {listed(row.evidence)}</span>}
            {row.keyword && <Badge tone="accent">by keyword {row.keyword}</Badge>}
            {row.superseded_by && (
              <MemoryLink id={row.superseded_by} className="underline">
                <Badge tone="warn">has a newer value</Badge>
              </MemoryLink>
            )}
          </p>
        </div>
        <div className="w-20 shrink-0 pt-0.5">
          <p className="tnum text-right text-sm font-medium">{formatScore(row.score)}</p>
          <Bar value={row.score} scale={best} />
        </div>
      </div>
      <details className="mt-2 ml-8" open={place === 1}>
        <summary className="text-xs text-muted hover:text-ink">Score parts of result {place}</summary>
        <div className="pt-3">
          <ScoreParts parts={row.parts ?? {}} ranks={row.ranks ?? {}} groups={groups} scale={scale} />
        </div>
      </details>
    </li>
  );
}
