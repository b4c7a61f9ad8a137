import type { Letter } from "@/api/letters";
import { usePrincipal } from "@/api/session";
import { Badge } from "@/ui/Badge";
import { formatBytes, inWords } from "@/ui/format";
import { Ago } from "@/ui/Moment";
import { Table, type Column } from "@/ui/Table";

interface Props {
  letters: Letter[];
  /** The chosen letters; null: letters cannot be chosen. */
  chosen: ReadonlySet<string> | null;
  onChoose: (chosen: ReadonlySet<string>) => void;
  selected: string | undefined;
  onOpen: (place: string) => void;
}

export function LetterTable({ letters, chosen, onChoose, selected, onOpen }: Props) {
  const { kind } = usePrincipal();
  const columns: Column<Letter>[] = [
    {
      key: "reason",
      title: "Reason",
      className: "w-full min-w-48",
      cell: (letter) => (
        <button type="button" className="text-left hover:text-accent hover:underline" onClick={() => onOpen(letter.place)}>
          <span className="font-medium">{inWords(letter.reason)}</span>
          <span className="line-clamp-2 text-xs [overflow-wrap:anywhere] text-muted">{letter.detail}</span>
        </button>
      ),
    },
    { key: "stage", title: "Stage", className: "whitespace-nowrap", cell: (letter) => <Badge>{letter.stage}</Badge> },
    { key: "record", title: "Record", wide: true, cell: (letter) => <code className="font-mono text-xs whitespace-nowrap">{`${letter.topic} ${letter.partition}/${letter.offset}`}</code> },
    { key: "tries", title: "Attempts", align: "right", wide: true, cell: (letter) => letter.tries },
    { key: "size", title: "Size", align: "right", wide: true, cell: (letter) => formatBytes(letter.size) },
    { key: "time", title: "Last failure", cell: (letter) => <Ago at={letter.last_time} /> },
  ];
  if (kind === "operator") columns.splice(1, 0, { key: "tenant", title: "Tenant", cell: (letter) => letter.tenant ?? "–" });
  if (chosen !== null) {
    columns.unshift({
      key: "choose",
      title: "Choose",
      cell: (letter) => (
        <input
          type="checkbox"
          className="size-4"
          aria-label={`Choose the letter ${letter.place}`}
          checked={chosen.has(letter.place)}
          onChange={() => {
            const next = new Set(chosen);
            if (!next.delete(letter.place)) next.add(letter.place);
            onChoose(next);
          }}
        />
      ),
    });
  }
  return <Table caption="Dead letters" columns={columns} rows={letters} rowKey={(letter) => letter.place} selected={selected} />;
}
