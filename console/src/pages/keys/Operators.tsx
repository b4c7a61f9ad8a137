import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { operatorsQuery, useCreateOperator, useDeleteOperator, type OperatorKey } from "@/api/keys";
import { hasRole, usePrincipal, type Role } from "@/api/session";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { Dialog } from "@/ui/Dialog";
import { DialogForm } from "@/ui/DialogForm";
import { SelectField, TextField } from "@/ui/Field";
import { Ago } from "@/ui/Moment";
import { notify } from "@/ui/notices";
import { Panel } from "@/ui/Panel";
import { QueryState } from "@/ui/states";
import { Table, type Column } from "@/ui/Table";

import { SecretDialog } from "./SecretDialog";
import { showSecret } from "./showSecret";

export function Operators() {
  const principal = usePrincipal();
  const mayChange = hasRole(principal, "admin");
  const query = useQuery(operatorsQuery);
  const [isAdding, setIsAdding] = useState(false);
  const [deleting, setDeleting] = useState<OperatorKey | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const columns: Column<OperatorKey>[] = [
    { key: "label", title: "Label", cell: (key) => <span className="font-medium">{key.label || key.id}</span> },
    { key: "id", title: "Id", wide: true, cell: (key) => <code className="font-mono text-xs">{key.id}</code> },
    { key: "role", title: "Role", cell: (key) => <Badge tone="accent">{key.role}</Badge> },
    { key: "used", title: "Last used", wide: true, cell: (key) => (key.last_used ? <Ago at={key.last_used} /> : <span className="text-muted">never</span>) },
  ];
  if (mayChange) {
    columns.push({
      key: "actions",
      title: "Actions",
      cell: (key) =>
        key.id === principal.id ? (
          <span className="text-xs text-muted">this session</span>
        ) : (
          <Button size="small" aria-label={`Revoke the operator’s key ${key.label || key.id}`} onClick={() => setDeleting(key)}>
            Revoke
          </Button>
        ),
    });
  }
  return (
    <Panel title="Operators’ keys" actions={mayChange && <Button size="small" onClick={() => setIsAdding(true)}>New operator</Button>} flush>
      <QueryState query={query}>{(data) => <Table caption="Operators’ keys" columns={columns} rows={data.keys} rowKey={(key) => key.id} />}</QueryState>
      {isAdding && (
        <NewOperatorDialog
          onClose={() => setIsAdding(false)}
          onMade={(key) => {
            setIsAdding(false);
            setSecret(key);
          }}
        />
      )}
      {deleting && <Revoke apiKey={deleting} onClose={() => setDeleting(null)} />}
      {secret !== null && <SecretDialog secret={secret} onClose={() => setSecret(null)} />}
    </Panel>
  );
}

const ROLES: { value: Role; label: string }[] = [
  { value: "viewer", label: "Viewer: reads" },
  { value: "operator", label: "Operator: also redrives and purges dead letters" },
  { value: "admin", label: "Administrator: everything, also erasures and keys" },
];

function NewOperatorDialog({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const create = useCreateOperator();
  const [label, setLabel] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  return (
    <Dialog title="New operator’s key" onClose={onClose}>
      <DialogForm action="Make the key" change={create} onSubmit={() => showSecret(create.mutateAsync({ label: label.trim(), role }), onMade)} onClose={onClose}>
        <TextField label="Label" required value={label} onChange={(event) => setLabel(event.target.value)} />
        <SelectField label="Role" options={ROLES} value={role} onChange={(event) => setRole(event.target.value as Role)} />
      </DialogForm>
    </Dialog>
  );
}

function Revoke({ apiKey, onClose }: { apiKey: OperatorKey; onClose: () => void }) {
  const remove = useDeleteOperator();
  return (
    <ConfirmDialog
      title={`Revoke the operator’s key ${apiKey.label || apiKey.id}`}
      action="Revoke"
      typed="revoke"
      change={remove}
      onClose={onClose}
      onConfirm={() =>
        remove.mutate(apiKey.id, {
          onSuccess: () => {
            notify("The operator’s key is revoked.");
            onClose();
          },
        })
      }
    >
      <p>
        <strong>This cannot be undone.</strong> Sessions of this console that were opened with the key end.
      </p>
    </ConfirmDialog>
  );
}
