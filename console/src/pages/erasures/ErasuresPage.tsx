import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { erasuresQuery, type Erasure } from "@/api/erasures";
import { hasRole, usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Ago } from "@/ui/Moment";
import { PageHeader, Panel } from "@/ui/Panel";
import { Empty, QueryState } from "@/ui/states";
import { Table, type Column } from "@/ui/Table";

import { EraseDialog } from "./EraseDialog";
import { ErasureState } from "./ErasureState";
import { Receipt } from "./Receipt";
import { UserSearch, useSubjects } from "./UserSearch";

const route = getRouteApi("/erasures");

export function ErasuresPage() {
  const principal = usePrincipal();
  const tenant = useTenant();
  const { subject } = route.useSearch();
  const navigate = route.useNavigate();
  const [isAsking, setIsAsking] = useState(false);
  const [user, setUser] = useState("");
  const query = useQuery(erasuresQuery(principal, tenant));
  const all = query.data?.erasures ?? [];
  const subjects = useSubjects(user, [...new Set(all.map((each) => each.tenant))].sort());
  const found = all.filter((each) => subjects === undefined || subjects.has(each.subject)).reverse();
  const open = (next: string | undefined) => void navigate({ search: (before) => ({ ...before, subject: next }) });
  const mayErase = principal.kind === "tenant" || hasRole(principal, "admin");
  const chosen = found.find((each) => each.subject === subject);

  const columns: Column<Erasure>[] = [
    {
      key: "subject",
      title: "Subject (digest of the user)",
      cell: (row) => (
        <button type="button" className="font-mono text-xs text-accent underline" onClick={() => open(row.subject)}>
          {row.subject.slice(0, 16)}
        </button>
      ),
    },
    { key: "state", title: "State", cell: (row) => <ErasureState erasure={row} /> },
    { key: "requested", title: "Requested", cell: (row) => <Ago at={row.requested_at} /> },
    { key: "finished", title: "Verified", cell: (row) => <Ago at={row.finished_at} /> },
    { key: "reason", title: "Reason", wide: true, cell: (row) => row.reason || <span className="text-muted">–</span> },
  ];
  if (principal.kind === "operator") columns.unshift({ key: "tenant", title: "Tenant", cell: (row) => row.tenant ?? "–" });

  return (
    <>
      <PageHeader
        title="Erasures"
        purpose="Removal of everything that a user said and that was derived from it. The receipt is written after the service has verified that nothing remains."
        actions={
          mayErase && (
            <Button tone="danger" onClick={() => setIsAsking(true)}>
              Erase a user
            </Button>
          )
        }
      />
      <UserSearch user={user} onSearch={setUser} />
      <Panel title={user ? `Erasures of ${user}` : "Erasures and receipts"} note="newest first; receipts name users by a digest" flush>
        <QueryState query={query} isEmpty={() => found.length === 0} empty={user ? <NeverErased user={user} tenant={tenant ?? principal.tenant} /> : <Empty title="No user was erased" />}>
          {() => <Table caption="Erasures" columns={columns} rows={found} rowKey={(row) => `${row.subject}/${row.requested_at}`} selected={chosen && `${chosen.subject}/${chosen.requested_at}`} step={100} />}
        </QueryState>
      </Panel>
      {chosen && (
        <Dialog title="Receipt of an erasure" onClose={() => open(undefined)}>
          <Receipt erasure={chosen} />
        </Dialog>
      )}
      {isAsking && <EraseDialog onClose={() => setIsAsking(false)} />}
    </>
  );
}

function NeverErased({ user, tenant }: { user: string; tenant: string | null }) {
  return (
    <Empty title={`No erasure of ${user} was requested`}>
      {tenant ? `In the tenant ${tenant}. ` : ""}User ids are exact: capitals and spaces count.
    </Empty>
  );
}
