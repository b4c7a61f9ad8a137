import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Schemas } from "@/api/client";
import { tenantQuery, useUpdateTenant, type Tenant } from "@/api/keys";
import { hasRole, usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Facts } from "@/ui/Facts";
import { TextField } from "@/ui/Field";
import { formatCount } from "@/ui/format";
import { notify } from "@/ui/notices";
import { Panel } from "@/ui/Panel";
import { ErrorNote, QueryState } from "@/ui/states";

import { BUDGET, QUOTA, withTexts, type LimitField, type Limits } from "./limits";

export function TenantLimits({ tenant }: { tenant: string }) {
  const mayChange = hasRole(usePrincipal(), "admin");
  const query = useQuery(tenantQuery(tenant));
  const [isEditing, setIsEditing] = useState(false);
  return (
    <Panel
      title="Quotas and budget"
      note="limits of this tenant’s own; the others are those of the deployment"
      actions={
        mayChange && (
          <Button size="small" disabled={!query.data} onClick={() => setIsEditing(true)}>
            Edit
          </Button>
        )
      }
    >
      <QueryState query={query}>
        {(found) => (
          <div className="grid gap-6 md:grid-cols-2">
            <LimitList title="Quotas" fields={QUOTA} limits={found.quota} />
            <LimitList title="Budget of model calls" fields={BUDGET} limits={found.budget} />
          </div>
        )}
      </QueryState>
      {isEditing && query.data && <EditDialog tenant={query.data} onClose={() => setIsEditing(false)} />}
    </Panel>
  );
}

function LimitList({ title, fields, limits }: { title: string; fields: LimitField[]; limits: Limits }) {
  return (
    <section>
      <h3 className="mb-2 text-xs font-semibold text-muted">{title}</h3>
      <Facts items={fields.map(({ name, label }) => [label, limits[name] == null ? <span key={name} className="text-muted">default</span> : formatCount(Number(limits[name]))])} />
    </section>
  );
}

function EditDialog({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const update = useUpdateTenant(tenant.id);
  const first = (fields: LimitField[], limits: Limits) => Object.fromEntries(fields.map(({ name }) => [name, limits[name] == null ? "" : String(limits[name])]));
  const [quota, setQuota] = useState(first(QUOTA, tenant.quota));
  const [budget, setBudget] = useState(first(BUDGET, tenant.budget));
  return (
    <Dialog title={`Quotas and budget of ${tenant.id}`} onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate(
            { quota: withTexts(tenant.quota, QUOTA, quota), budget: withTexts(tenant.budget, BUDGET, budget) } as Schemas["TenantChange"],
            {
              onSuccess: () => {
                notify("The limits are stored. Every process applies them within seconds.");
                onClose();
              },
            },
          );
        }}
      >
        <p className="text-sm text-muted">Leave a field empty to use the default of the deployment.</p>
        <div className="grid gap-3 sm:grid-cols-2">
          {QUOTA.map(({ name, label }) => (
            <TextField key={name} label={label} type="number" min={0} step="any" value={quota[name] ?? ""} onChange={(event) => setQuota({ ...quota, [name]: event.target.value })} />
          ))}
          {BUDGET.map(({ name, label }) => (
            <TextField key={name} label={label} type="number" min={0} step="any" value={budget[name] ?? ""} onChange={(event) => setBudget({ ...budget, [name]: event.target.value })} />
          ))}
        </div>
        {update.isError && <ErrorNote error={update.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={update.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
