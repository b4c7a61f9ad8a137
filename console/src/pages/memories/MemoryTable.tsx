import type { Memory } from "@/api/memories";
import { Badge } from "@/ui/Badge";
import { cx } from "@/ui/classes";
import { formatScore } from "@/ui/format";
import { Moment } from "@/ui/Moment";
import { Name } from "@/ui/Name";
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
        <button type="button" className="line-clamp-2 text-left [overflow-wrap:anywhere] hover:text-accent hover:underline" onClick={() => onOpen(memory.id)}>
          <Content memory={memory} />
        </button>
      ),
    },
    { key: "type", title: "Type", cell: ({ memory }) => <TypeBadge memory={memory} /> },
    { key: "user", title: "User", wide: true, cell: ({ memory }) => <Name text={memory.user} /> },
    { key: "session", title: "Session", wide: true, cell: ({ memory }) => <Name text={memory.session} /> },
    { key: "time", title: "Happened", cell: ({ memory }) => <Moment at={memory.event_time} precise={false} /> },
  ];
  if (scores) columns.push({ key: "score", title: "Score", align: "right", cell: ({ score }) => (score === undefined ? "" : formatScore(score)) });
  return <Table caption="Memories" columns={columns} rows={rows} rowKey={({ memory }) => memory.id} selected={selected} />;
}

/** The words of a memory, with their speaker. Each has its own direction of writing. */
export function Content({ memory }: { memory: Pick<Memory, "speaker" | "content"> }) {
  return (
    <>
      {memory.speaker && (
        <bdi className="inline-block max-w-40 truncate align-bottom text-muted" title={memory.speaker}>
          {memory.speaker}:
        </bdi>
      )}{" "}
      <bdi>{memory.content}</bdi>
    </>
  );
}

/** The kind and type of a memory: in a table in one line. */
export function TypeBadge({ memory, wraps = false }: { memory: Pick<Memory, "kind" | "type">; wraps?: boolean }) {
  return (
    <span className={cx("inline-flex items-center gap-1", !wraps && "whitespace-nowrap")}>
      <Badge tone={memory.kind === "entity" ? "accent" : "neutral"}>{memory.kind}</Badge>
      <span className={cx("font-mono text-xs", wraps && "[overflow-wrap:anywhere]")}>{memory.type}</span>
    </span>
  );
}
