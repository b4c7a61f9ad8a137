import type { Candidate } from "@/api/recall";
import { Badge } from "@/ui/Badge";
import { formatScore, inWords } from "@/ui/format";
import { Empty } from "@/ui/states";
import { Table, type Column } from "@/ui/Table";

import { outcomeOf } from "./outcomes";
import { MemoryId } from "./WhyNotList";

const part = (name: string) => (row: Candidate) => {
  const value = row.parts[name];
  return value === undefined ? <span className="text-muted">–</span> : formatScore(value);
};

const COLUMNS: Column<Candidate>[] = [
  { key: "rank", title: "Rank", align: "right", cell: (row) => row.rank ?? "–" },
  { key: "id", title: "Memory", cell: (row) => <MemoryId id={row.id} /> },
  { key: "outcome", title: "Outcome", cell: (row) => <Outcome name={row.outcome} /> },
  { key: "score", title: "Score", align: "right", cell: (row) => formatScore(row.score) },
  { key: "dense", title: "dense", align: "right", wide: true, cell: part("dense") },
  { key: "bm25", title: "bm25", align: "right", wide: true, cell: part("bm25") },
  { key: "late", title: "late", align: "right", wide: true, cell: part("late") },
];

export function Candidates({ candidates }: { candidates: Candidate[] }) {
  if (candidates.length === 0) return <Empty title="No candidate was found">No search returned a memory that the request allows.</Empty>;
  return <Table caption="Candidates" columns={COLUMNS} rows={candidates} rowKey={(row) => row.id} />;
}

function Outcome({ name }: { name: string }) {
  const { text, tone } = outcomeOf(name);
  return (
    <span title={text}>
      <Badge tone={tone}>{inWords(name)}</Badge>
    </span>
  );
}
