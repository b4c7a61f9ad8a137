import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { tenantsQuery } from "@/api/admin";
import type { Tenant } from "@/api/keys";
import { Badge } from "@/ui/Badge";
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

export function Tenants() {
  const query = useQuery(tenantsQuery);
  return (
    <Panel title="Tenants" flush>
      <QueryState query={query} isEmpty={(data) => data.tenants.length === 0} empty={<Empty title="There is no tenant yet" />}>
        {(data) => <Table caption="Tenants" columns={COLUMNS} rows={data.tenants} rowKey={(tenant) => tenant.id} />}
      </QueryState>
    </Panel>
  );
}
