import type { Memory } from "@/api/memories";
import { Badge } from "@/ui/Badge";
import { formatScore } from "@/ui/format";
import { Moment } from "@/ui/Moment";
import { Table, type Column } from "@/ui/Table";

interface Props {
  memories: Memory[];
  scores?: number[];
  selected?: string;
  onOpen: (id: string) => void;
}

export function MemoryTable({ memories, scores, selected, onOpen }: Props) {
  const rows = memories.map((memory, index) => ({ memory, score: scores?.[index] }));
  const columns: Column<(typeof rows)[number]>[] = [
    {
      key: "content",
      title: "Memory",
      className: "min-w-56 w-full",
      cell: ({ memory }) => (
        <button type="button" className="line-clamp-2 text-left hover:text-accent hover:underline" onClick={() => onOpen(memory.id)}>
          {memory.speaker && <span className="text-muted">{memory.speaker}: </span>}
          {memory.content}
        </button>
      ),
    },
    { key: "type", title: "Type", cell: ({ memory }) => <TypeBadge memory={memory} /> },
    { key: "user", title: "User", wide: true, className: "whitespace-nowrap", cell: ({ memory }) => memory.user ?? <span className="text-muted">–</span> },
    { key: "session", title: "Session", wide: true, className: "whitespace-nowrap", cell: ({ memory }) => memory.session ?? <span className="text-muted">–</span> },
    { key: "time", title: "Happened", cell: ({ memory }) => <Moment at={memory.event_time} precise={false} /> },
  ];
  if (scores) columns.push({ key: "score", title: "Score", align: "right", cell: ({ score }) => (score === undefined ? "" : formatScore(score)) });
  return <Table caption="Memories" columns={columns} rows={rows} rowKey={({ memory }) => memory.id} selected={selected} />;
}

export function TypeBadge({ memory }: { memory: Pick<Memory, "kind" | "type"> }) {
  return (
    <span className="inline-flex items-center gap-1 whitespace-nowrap">
      <Badge tone={memory.kind === "entity" ? "accent" : "neutral"}>{memory.kind}</Badge>
      <span className="font-mono text-xs">{memory.type}</span>
    </span>
  );
}
