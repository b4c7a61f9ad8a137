import type { Candidate, Result } from "@/api/recall";
import { Badge } from "@/ui/Badge";
import { formatScore, inWords } from "@/ui/format";
import { Empty } from "@/ui/states";
import { Table, type Column } from "@/ui/Table";

import { MemoryLink } from "../memories/MemoryLink";
import { outcomeOf } from "./outcomes";

const part = (name: string) => (row: Candidate) => {
  const value = row.parts[name];
  return value === undefined ? <span className="text-muted">–</span> : formatScore(value);
};

const columns = (texts: ReadonlyMap<string, string>): Column<Candidate>[] => [
  { key: "rank", title: "Rank", align: "right", cell: (row) => row.rank ?? "–" },
  { key: "id", title: "Memory", className: "min-w-48", cell: (row) => <MemoryText id={row.id} text={texts.get(row.id)} /> },
  { key: "outcome", title: "Outcome", cell: (row) => <Outcome candidate={row} /> },
  { key: "score", title: "Score", align: "right", cell: (row) => formatScore(row.score) },
  { key: "dense", title: "dense", align: "right", wide: true, cell: part("dense") },
  { key: "bm25", title: "bm25", align: "right", wide: true, cell: part("bm25") },
  { key: "late", title: "late", align: "right", wide: true, cell: part("late") },
];

/** All candidates. The texts are those of the results: a recall returns no others. */
export function Candidates({ candidates, results }: { candidates: Candidate[]; results: Result[] }) {
  const texts = new Map(results.map((result) => [result.id, result.content]));
  if (candidates.length === 0) return <Empty title="No candidate was found">No search returned a memory that the request allows.</Empty>;
  return <Table caption="Candidates" columns={columns(texts)} rows={candidates} rowKey={(row) => row.id} />;
}

function MemoryText({ id, text }: { id: string; text: string | undefined }) {
  if (text === undefined) return <MemoryLink id={id} />;
  return (
    <MemoryLink id={id} className="line-clamp-2 [overflow-wrap:anywhere] hover:text-accent hover:underline">
      {text}
    </MemoryLink>
  );
}

function Outcome({ candidate }: { candidate: Candidate }) {
  const { text, tone } = outcomeOf(candidate.outcome);
  return (
    <span className="block min-w-40">
      <Badge tone={tone}>{inWords(candidate.outcome)}</Badge>
      <span className="mt-0.5 block text-xs text-muted">
        {text}{" "}
        {candidate.of && (
          <MemoryLink id={candidate.of} className="underline">
            Open that one
          </MemoryLink>
        )}
      </span>
    </span>
  );
}
