import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { tenantsQuery } from "@/api/admin";
import type { Tenant } from "@/api/keys";
import { Badge } from "@/ui/Badge";
import { TextField } from "@/ui/Field";
import { counted } from "@/ui/format";
import { LoadMore } from "@/ui/LoadMore";
import { Panel } from "@/ui/Panel";
import { Empty, QueryState } from "@/ui/states";
import { Table, type Column } from "@/ui/Table";
import { useSettled } from "@/ui/useSettled";

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
  const [text, setText] = useState("");
  const wanted = useSettled(text.trim());
  const all = useInfiniteQuery(tenantsQuery());
  const query = useInfiniteQuery(tenantsQuery(wanted));
  const total = all.data?.pages[0]?.total ?? 0;
  return (
    <Panel
      title="Tenants"
      note={all.data && counted(total, "tenant")}
      actions={total > FEW && <TextField label="Find a tenant" hideLabel type="search" placeholder="Find a tenant" value={text} onChange={(event) => setText(event.target.value)} />}
      flush
    >
      <QueryState query={query} isEmpty={({ pages }) => pages[0]?.total === 0} empty={<Empty title={wanted ? "No tenant has this text in its name" : "There is no tenant yet"} />}>
        {({ pages }) => (
          <>
            <Table caption="Tenants" columns={COLUMNS} rows={pages.flatMap((page) => page.tenants)} rowKey={(tenant) => tenant.id} />
            {!query.isPlaceholderData && <LoadMore query={query} />}
          </>
        )}
      </QueryState>
    </Panel>
  );
}
