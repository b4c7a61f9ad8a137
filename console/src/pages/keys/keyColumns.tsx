import type { ApiKey } from "@/api/keys";
import { Badge } from "@/ui/Badge";
import { Moment } from "@/ui/Moment";
import type { Column } from "@/ui/Table";

/** The columns of API keys, without actions. */
export function keyColumns(): Column<ApiKey>[] {
  return [
    { key: "label", title: "Label", cell: (key) => <span className="font-medium">{key.label || key.id}</span> },
    { key: "id", title: "Id", wide: true, cell: (key) => <code className="font-mono text-xs">{key.id}</code> },
    {
      key: "scopes",
      title: "Scopes",
      className: "min-w-32",
      cell: (key) => (
        <span className="flex flex-wrap gap-1">
          {key.scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
        </span>
      ),
    },
    { key: "user", title: "User", cell: (key) => key.user ?? <span className="text-muted">all</span> },
    { key: "used", title: "Last used", wide: true, cell: (key) => <Moment at={key.last_used} /> },
    { key: "expires", title: "Expires", wide: true, cell: (key) => (key.expires ? <Moment at={key.expires} /> : <span className="text-muted">never</span>) },
  ];
}
