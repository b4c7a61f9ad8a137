import type { ApiKey } from "@/api/keys";
import { Badge, Badges } from "@/ui/Badge";
import { Ago } from "@/ui/Moment";
import { useNow } from "@/ui/now";
import type { Column } from "@/ui/Table";

const never = <span className="text-muted">never</span>;

/** The columns of API keys, without actions. */
export function keyColumns(): Column<ApiKey>[] {
  return [
    { key: "label", title: "Label", cell: (key) => <span className="font-medium">{key.label || key.id}</span> },
    { key: "id", title: "Id", wide: true, cell: (key) => <code className="font-mono text-xs">{key.id}</code> },
    { key: "scopes", title: "Scopes", className: "min-w-32", cell: (key) => <Badges names={key.scopes} /> },
    { key: "user", title: "User", cell: (key) => key.user ?? <span className="text-muted">all</span> },
    { key: "used", title: "Last used", wide: true, cell: (key) => (key.last_used ? <Ago at={key.last_used} /> : never) },
    { key: "expires", title: "Expires", wide: true, cell: (key) => (key.expires ? <Expiry at={key.expires} /> : never) },
  ];
}

function Expiry({ at }: { at: string }) {
  const isOver = Date.parse(at) <= useNow();
  return (
    <span className="flex items-center gap-1.5">
      {isOver && <Badge tone="warn">expired</Badge>}
      <Ago at={at} />
    </span>
  );
}
