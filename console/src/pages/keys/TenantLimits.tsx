import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { Schemas } from "@/api/client";
import { ApiError } from "@/api/errors";
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

import { BUDGET, changedLimits, entriesOf, inWordsOf, QUOTA, rebased, withEntries, type ChangedLimit, type Entry, type LimitField, type Limits } from "./limits";

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
  const client = useQueryClient();
  const update = useUpdateTenant(tenant.id);
  // The state that the entries were made from: the tenant may be read again while the form is open.
  const [base, setBase] = useState(tenant);
  const [quota, setQuota] = useState(entriesOf(QUOTA, tenant.quota));
  const [budget, setBudget] = useState(entriesOf(BUDGET, tenant.budget));
  const [newer, setNewer] = useState<Tenant | null>(null);
  const save = (from: Tenant) => {
    const change = { quota: withEntries(from.quota, QUOTA, quota), budget: withEntries(from.budget, BUDGET, budget) } as Schemas["TenantChange"];
    update.mutate(
      { revision: from.revision, change },
      {
        onSuccess: () => {
          notify("The limits are stored. Every process applies them within seconds.");
          onClose();
        },
        onError: (error) => {
          if (isConflict(error)) void client.fetchQuery({ ...tenantQuery(tenant.id), staleTime: 0 }).then(meet, () => undefined);
        },
      },
    );
  };
  const meet = (found: Tenant) => {
    // Another part of the tenant has changed, such as its keys.
    if (differences(base, found).length === 0) save(found);
    else setNewer(found);
  };
  const takeOver = (found: Tenant) => {
    setQuota(rebased(QUOTA, quota, base.quota, found.quota));
    setBudget(rebased(BUDGET, budget, base.budget, found.budget));
    setBase(found);
    setNewer(null);
    update.reset();
  };
  const error = newer !== null && update.error !== null && isConflict(update.error) ? null : update.error;
  return (
    <Dialog title={`Quotas and budget of ${tenant.id}`} onClose={onClose}>
      <DialogForm action="Save" disabled={newer !== null} change={{ isPending: update.isPending, error }} onSubmit={() => save(base)} onClose={onClose}>
        <p className="text-sm text-muted">Leave a field empty to use the default of the deployment.</p>
        <FieldSet title="Quotas" fields={QUOTA} entries={quota} onChange={setQuota} />
        <FieldSet
          title="Budget of model calls"
          note="The share is that of the smaller limit, soft or hard. A re-extraction stops there until the next day (UTC); the rest is for new messages."
          fields={BUDGET}
          entries={budget}
          onChange={setBudget}
        />
        {newer && <Conflict changes={differences(base, newer)} onTakeOver={() => takeOver(newer)} />}
      </DialogForm>
    </Dialog>
  );
}

const isConflict = (error: Error) => error instanceof ApiError && error.status === 412;

const differences = (before: Tenant, after: Tenant) => [...changedLimits(QUOTA, before.quota, after.quota), ...changedLimits(BUDGET, before.budget, after.budget)];

/** Says which limits somebody else has stored since the form was opened. */
function Conflict({ changes, onTakeOver }: { changes: ChangedLimit[]; onTakeOver: () => void }) {
  return (
    <div role="alert" className="space-y-2 rounded-md bg-warn-soft px-3 py-2 text-sm">
      <p>Nothing is stored yet: these limits were changed after you opened this form.</p>
      <ul aria-label="Limits that were changed" className="list-disc pl-5">
        {changes.map(({ label, before, after }) => (
          <li key={label}>
            {label}: {before} → {after}
          </li>
        ))}
      </ul>
      <Button size="small" onClick={onTakeOver}>
        Load them
      </Button>
      <p className="text-xs text-muted">The fields that you have changed keep your entries. Check them, and save again.</p>
    </div>
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
