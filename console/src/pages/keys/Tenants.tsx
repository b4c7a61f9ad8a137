import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { tenantsQuery } from "@/api/admin";
import type { Tenant } from "@/api/keys";
import { Badge } from "@/ui/Badge";
import { TextField } from "@/ui/Field";
import { counted } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { Empty, QueryState } from "@/ui/states";
import { Table, type Column } from "@/ui/Table";

const COLUMNS: Column<Tenant>[] = [
  {
    key: "id",
    title: "Tenant",
    cell: (tenant) => (
      <Link to="/keys" search={{ tenant: tenant.id }} className="font-medium text-accent hover:underline">
        {tenant.id}
      </Link>
    ),
  },
  { key: "state", title: "State", cell: (tenant) => <Badge tone={tenant.state === "active" ? "good" : "warn"}>{tenant.state}</Badge> },
  { key: "schema", title: "Schema", cell: (tenant) => <code className="font-mono text-xs">{tenant.schema}</code> },
  { key: "method", title: "Method", wide: true, cell: (tenant) => tenant.method },
  { key: "keys", title: "Keys", align: "right", cell: (tenant) => tenant.keys },
  { key: "weight", title: "Weight", align: "right", wide: true, cell: (tenant) => tenant.weight },
  { key: "limits", title: "Own limits", wide: true, cell: (tenant) => Object.keys({ ...tenant.quota, ...tenant.budget }).length || <span className="text-muted">none</span> },
];

/** Up to so many tenants, a search field is of no use. */
const FEW = 10;

export function Tenants() {
  const query = useQuery(tenantsQuery);
  const [text, setText] = useState("");
  const all = query.data?.tenants ?? [];
  const found = all.filter((tenant) => tenant.id.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <Panel
      title="Tenants"
      note={query.data && counted(all.length, "tenant")}
      actions={all.length > FEW && <TextField label="Find a tenant" hideLabel type="search" placeholder="Find a tenant" value={text} onChange={(event) => setText(event.target.value)} />}
      flush
    >
      <QueryState query={query} isEmpty={() => found.length === 0} empty={<Empty title={text ? "No tenant has this text in its name" : "There is no tenant yet"} />}>
        {() => <Table caption="Tenants" columns={COLUMNS} rows={found} rowKey={(tenant) => tenant.id} step={100} />}
      </QueryState>
    </Panel>
  );
}
