import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { erasuresQuery, type Erasure } from "@/api/erasures";
import { hasRole, usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { Badge, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Moment } from "@/ui/Moment";
import { PageHeader, Panel } from "@/ui/Panel";
import { Empty, QueryState } from "@/ui/states";
import { Table, type Column } from "@/ui/Table";

import { EraseDialog } from "./EraseDialog";
import { Receipt } from "./Receipt";

const route = getRouteApi("/erasures");

export function ErasuresPage() {
  const principal = usePrincipal();
  const tenant = useTenant();
  const { subject } = route.useSearch();
  const navigate = route.useNavigate();
  const [isAsking, setIsAsking] = useState(false);
  const query = useQuery(erasuresQuery(principal, tenant));
  const open = (next: string | undefined) => void navigate({ search: (before) => ({ ...before, subject: next }) });
  const mayErase = principal.kind === "tenant" || hasRole(principal, "admin");
  const chosen = query.data?.erasures.find((each) => each.subject === subject);

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
    { key: "requested", title: "Requested", cell: (row) => <Moment at={row.requested_at} /> },
    { key: "finished", title: "Verified", cell: (row) => <Moment at={row.finished_at} /> },
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
      <Panel title="Erasures and receipts" note="users are named by a digest" flush>
        <QueryState query={query} isEmpty={(data) => data.erasures.length === 0} empty={<Empty title="No user was erased" />}>
          {(data) => <Table caption="Erasures" columns={columns} rows={[...data.erasures].reverse()} rowKey={(row) => row.subject} selected={subject} />}
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

export function ErasureState({ erasure }: { erasure: Erasure }) {
  const [tone, text] = stateOf(erasure);
  return <Badge tone={tone}>{text}</Badge>;
}

function stateOf(erasure: Erasure): [Tone, string] {
  if (erasure.remains.length > 0) return ["bad", "something remains"];
  if (erasure.finished_at !== null) return ["good", "erased and verified"];
  if (erasure.problem !== null) return ["bad", "failed"];
  return erasure.running ? ["accent", "in progress"] : ["warn", "waits for a process"];
}
