import { useQuery } from "@tanstack/react-query";

import { ownKeysQuery, statusQuery } from "@/api/keys";
import { readsWholeTenant, usePrincipal } from "@/api/session";
import { Badges } from "@/ui/Badge";
import { Facts } from "@/ui/Facts";
import { formatCount } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { Empty, NotForYou, QueryState } from "@/ui/states";
import { Table } from "@/ui/Table";

import { keyColumns } from "./keyColumns";
import { QUOTA } from "./limits";

/** What a tenant sees: the key of this session, and with the scope `operate` all keys and the quotas. */
export function OwnKeys() {
  return (
    <>
      <SessionKey />
      {readsWholeTenant(usePrincipal()) ? (
        <TenantsOwn />
      ) : (
        <Panel title="All keys">
          <NotForYou title="Your key does not show the other keys">It needs the scope “operate”, and must not be bound to a user.</NotForYou>
        </Panel>
      )}
    </>
  );
}

function SessionKey() {
  const principal = usePrincipal();
  const query = useQuery(statusQuery);
  return (
    <Panel title="The key of this session">
      <QueryState query={query}>
        {(status) => (
          <Facts
            items={[
              ["Tenant", status.tenant],
              ["Key", `${principal.id}${principal.label ? ` (${principal.label})` : ""}`],
              ["User", status.user ?? "all users of the tenant"],
              ["Scopes", <Badges key="scopes" names={status.scopes} />],
              ["Schema", <code key="schema" className="font-mono text-xs">{status.schema}</code>],
              ["Generation", status.generation || "first"],
            ]}
          />
        )}
      </QueryState>
    </Panel>
  );
}

function TenantsOwn() {
  const query = useQuery(ownKeysQuery);
  return (
    <>
      <Panel title="All keys" note="an operator makes and revokes them" flush>
        <QueryState query={query} isEmpty={(data) => data.keys.length === 0} empty={<Empty title="There is no key" />}>
          {(data) => <Table caption="API keys" columns={keyColumns()} rows={data.keys} rowKey={(key) => key.id} />}
        </QueryState>
      </Panel>
      <Panel title="Quotas" note="limits in force for the tenant">
        <QueryState query={query}>
          {(data) => (
            <Facts
              items={QUOTA.map(({ name, label }) => {
                const limit = (data.quota as Record<string, number | null>)[name];
                return [label, limit == null ? <span key={name} className="text-muted">no limit</span> : formatCount(limit)];
              })}
            />
          )}
        </QueryState>
      </Panel>
    </>
  );
}
