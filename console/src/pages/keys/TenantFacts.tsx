import { useQuery } from "@tanstack/react-query";

import { tenantQuery, type Tenant } from "@/api/keys";
import { Badge } from "@/ui/Badge";
import { Facts } from "@/ui/Facts";
import { inWords } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { QueryState } from "@/ui/states";

/** What a tenant's memories depend on, apart from limits. `varve tenants set` changes it. */
export function TenantFacts({ tenant }: { tenant: string }) {
  const query = useQuery(tenantQuery(tenant));
  return (
    <Panel title="Tenant" note="varve tenants set changes it">
      <QueryState query={query}>
        {(found) => (
          <Facts
            items={[
              ["State", <Badge key="state" tone={found.state === "active" ? "good" : "warn"}>{found.state === "active" ? "active" : "suspended: its keys are refused"}</Badge>],
              ["Schema", <code key="schema" className="font-mono text-xs">{found.schema}</code>],
              ["Method", found.method],
              ["Live generation", found.generation || "first"],
              ["Weight", found.weight],
              ["Retention", retention(found)],
              ["Trust in sources", listed(found.trust.sources) || "every source is normal"],
              ["Redaction", found.redaction.kinds ? (found.redaction.kinds as string[]).map(inWords).join(", ") : "models see everything"],
              ["Time zone", String(found.messages.time_zone ?? "") || "not set"],
            ]}
          />
        )}
      </QueryState>
    </Panel>
  );
}

function retention({ retention: periods }: Tenant): string {
  const named = Object.entries(periods).map(([type, period]) => `${type === "*" ? "all other types" : type} ${period}`);
  return named.join(", ") || "everything is kept";
}

function listed(values: unknown): string {
  return Object.entries((values ?? {}) as Record<string, string>)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}
