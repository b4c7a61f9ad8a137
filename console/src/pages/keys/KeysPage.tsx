import { usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { PageHeader } from "@/ui/Panel";

import { Operators } from "./Operators";
import { OwnKeys } from "./OwnKeys";
import { TenantFacts } from "./TenantFacts";
import { TenantKeys } from "./TenantKeys";
import { TenantLimits } from "./TenantLimits";
import { Tenants } from "./Tenants";
import { Webhooks } from "./Webhooks";

export function KeysPage() {
  const principal = usePrincipal();
  const tenant = useTenant();
  if (principal.kind === "tenant") {
    return (
      <>
        <PageHeader title="Keys and quotas" purpose="What your key opens, and the keys and quotas of the tenant. An operator changes them." />
        <OwnKeys />
      </>
    );
  }
  return (
    <>
      <PageHeader title="Keys and quotas" purpose={tenant ? `API keys, quotas and budget of the tenant ${tenant}.` : "Choose a tenant to see its keys, quotas and budget."} />
      {tenant ? (
        <>
          <TenantKeys key={tenant} tenant={tenant} />
          <TenantLimits key={`limits of ${tenant}`} tenant={tenant} />
          <Webhooks key={`webhooks of ${tenant}`} tenant={tenant} />
          <TenantFacts tenant={tenant} />
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
