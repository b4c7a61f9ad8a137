import { useQuery } from "@tanstack/react-query";

import { statusQuery } from "@/api/keys";
import { usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { Badge } from "@/ui/Badge";
import { Facts } from "@/ui/Facts";
import { PageHeader, Panel } from "@/ui/Panel";
import { QueryState } from "@/ui/states";

import { Operators } from "./Operators";
import { TenantKeys } from "./TenantKeys";
import { TenantLimits } from "./TenantLimits";
import { Tenants } from "./Tenants";

export function KeysPage() {
  const principal = usePrincipal();
  const tenant = useTenant();
  if (principal.kind === "tenant") {
    return (
      <>
        <PageHeader title="Keys and quotas" purpose="What your key opens. An operator makes keys and sets quotas." />
        <OwnKey />
      </>
    );
  }
  return (
    <>
      <PageHeader title="Keys and quotas" purpose={tenant ? `API keys, quotas and budget of the tenant ${tenant}.` : "Choose a tenant to see its keys, quotas and budget."} />
      {tenant ? (
        <>
          <TenantKeys key={tenant} tenant={tenant} />
          <TenantLimits tenant={tenant} />
        </>
      ) : (
        <>
          <Tenants />
          <Operators />
        </>
      )}
    </>
  );
}

function OwnKey() {
  const principal = usePrincipal();
  const query = useQuery(statusQuery);
  return (
    <Panel title="Your key">
      <QueryState query={query}>
        {(status) => (
          <Facts
            items={[
              ["Tenant", status.tenant],
              ["Key", `${principal.id}${principal.label ? ` (${principal.label})` : ""}`],
              ["User", status.user ?? "all users of the tenant"],
              [
                "Scopes",
                <span key="scopes" className="flex flex-wrap gap-1">
                  {status.scopes.map((scope) => (
                    <Badge key={scope}>{scope}</Badge>
                  ))}
                </span>,
              ],
              ["Schema", <code key="schema" className="font-mono text-xs">{status.schema}</code>],
              ["Generation", status.generation || "first"],
            ]}
          />
        )}
      </QueryState>
    </Panel>
  );
}
