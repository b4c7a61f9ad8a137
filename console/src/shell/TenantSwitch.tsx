import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { tenantsQuery } from "@/api/admin";
import { useTenant } from "@/shell/tenant";
import { SelectField } from "@/ui/Field";

/** Limits an operator's pages to one tenant. The choice is in the address. */
export function TenantSwitch() {
  const tenants = useQuery(tenantsQuery);
  const tenant = useTenant();
  const navigate = useNavigate();
  const ids = tenants.data?.tenants.map((each) => each.id) ?? [];
  const options = [...new Set(tenant ? [tenant, ...ids] : ids)].sort();
  return (
    <SelectField
      label="Tenant"
      hideLabel
      className="w-34 sm:w-40 lg:w-56"
      value={tenant ?? ""}
      options={[{ value: "", label: "All tenants" }, ...options.map((id) => ({ value: id, label: id }))]}
      onChange={(event) => void navigate({ to: ".", search: (before: object) => ({ ...before, tenant: event.target.value || undefined }) })}
    />
  );
}
