import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Schemas } from "@/api/client";
import { tenantQuery, useUpdateTenant, type Tenant } from "@/api/keys";
import { hasRole, usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { DialogForm } from "@/ui/DialogForm";
import { Facts } from "@/ui/Facts";
import { CheckField, SelectField, TextField } from "@/ui/Field";
import { notify } from "@/ui/notices";
import { Panel } from "@/ui/Panel";
import { QueryState } from "@/ui/states";

import { BUDGET, entriesOf, inWordsOf, QUOTA, withEntries, type Entry, type LimitField, type Limits } from "./limits";

export function TenantLimits({ tenant }: { tenant: string }) {
  const mayChange = hasRole(usePrincipal(), "admin");
  const query = useQuery(tenantQuery(tenant));
  const [isEditing, setIsEditing] = useState(false);
  return (
    <Panel
      title="Quotas and budget"
      note="of the tenant itself, or the defaults of the deployment"
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
            <LimitList title="Quotas" fields={QUOTA} own={found.quota} inForce={found.in_force.quota} />
            <LimitList title="Budget of model calls" fields={BUDGET} own={found.budget} inForce={found.in_force.budget} />
          </div>
        )}
      </QueryState>
      {isEditing && query.data && <EditDialog tenant={query.data} onClose={() => setIsEditing(false)} />}
    </Panel>
  );
}

interface ListProps {
  title: string;
  fields: LimitField[];
  /** The values of the tenant itself. */
  own: Limits;
  inForce: Limits;
}

function LimitList({ title, fields, own, inForce }: ListProps) {
  return (
    <section>
      <h3 className="mb-2 text-xs font-semibold text-muted">{title}</h3>
      <Facts
        items={fields.map((field) => [
          field.label,
          <span key={field.name} className={field.name in own ? "font-medium" : "text-muted"}>
            {inWordsOf(field, inForce[field.name])}
            {!(field.name in own) && " (default)"}
          </span>,
        ])}
      />
    </section>
  );
}

function EditDialog({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const update = useUpdateTenant(tenant.id);
  const [quota, setQuota] = useState(entriesOf(QUOTA, tenant.quota));
  const [budget, setBudget] = useState(entriesOf(BUDGET, tenant.budget));
  const submit = () =>
    update.mutate(
      { quota: withEntries(tenant.quota, QUOTA, quota), budget: withEntries(tenant.budget, BUDGET, budget) } as Schemas["TenantChange"],
      {
        onSuccess: () => {
          notify("The limits are stored. Every process applies them within seconds.");
          onClose();
        },
      },
    );
  return (
    <Dialog title={`Quotas and budget of ${tenant.id}`} onClose={onClose}>
      <DialogForm action="Save" change={update} onSubmit={submit} onClose={onClose}>
        <p className="text-sm text-muted">Leave a field empty to use the default of the deployment.</p>
        <FieldSet title="Quotas" fields={QUOTA} entries={quota} onChange={setQuota} />
        <FieldSet
          title="Budget of model calls"
          note="The share is that of the smaller limit, soft or hard. A re-extraction stops there until the next day (UTC); the rest is for new messages."
          fields={BUDGET}
          entries={budget}
          onChange={setBudget}
        />
      </DialogForm>
    </Dialog>
  );
}

interface SetProps {
  title: string;
  note?: string;
  fields: LimitField[];
  entries: Record<string, Entry>;
  onChange: (entries: Record<string, Entry>) => void;
}

function FieldSet({ title, note, fields, entries, onChange }: SetProps) {
  return (
    <fieldset>
      <legend className="mb-2 text-xs font-semibold">{title}</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        {fields.map((field) => (
          <EntryField key={field.name} field={field} entry={entries[field.name] ?? null} onChange={(entry) => onChange({ ...entries, [field.name]: entry })} />
        ))}
      </div>
      {note && <p className="mt-2 text-xs text-muted">{note}</p>}
    </fieldset>
  );
}

function EntryField({ field, entry, onChange }: { field: LimitField; entry: Entry; onChange: (entry: Entry) => void }) {
  if (field.choices) {
    const options = [{ value: "", label: "Default of the deployment" }, ...field.choices];
    return <SelectField label={field.label} options={options} value={entry ?? ""} onChange={(event) => onChange(event.target.value)} />;
  }
  return (
    <div className="space-y-1">
      <TextField
        label={field.label}
        type="number"
        min={field.min ?? 0}
        max={field.max}
        step="any"
        placeholder={entry === null ? "no limit" : "default"}
        disabled={entry === null}
        value={entry ?? ""}
        onChange={(event) => onChange(event.target.value)}
      />
      {field.isOptional && (
        <CheckField label="No limit" aria-label={`No limit: ${field.label}`} checked={entry === null} onChange={(event) => onChange(event.target.checked ? null : "")} />
      )}
    </div>
  );
}
