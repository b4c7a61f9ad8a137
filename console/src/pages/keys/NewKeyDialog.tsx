import { useState } from "react";

import { useCreateKey } from "@/api/keys";
import type { Scope } from "@/api/session";
import { Dialog } from "@/ui/Dialog";
import { DialogForm } from "@/ui/DialogForm";
import { CheckField, TextField } from "@/ui/Field";

import { showSecret } from "./showSecret";

const SCOPES: { scope: Scope; label: string }[] = [
  { scope: "ingest", label: "ingest: send messages" },
  { scope: "recall", label: "recall: read memories" },
  { scope: "correct", label: "correct: change memories" },
  { scope: "operate", label: "operate: dead letters, schemas and cost" },
  { scope: "erase", label: "erase: erase users" },
];

export function NewKeyDialog({ tenant, onClose, onMade }: { tenant: string; onClose: () => void; onMade: (key: string) => void }) {
  const create = useCreateKey(tenant);
  const [label, setLabel] = useState("");
  const [user, setUser] = useState("");
  const [expires, setExpires] = useState("");
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(["ingest", "recall"]));
  const toggle = (scope: Scope) => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };
  const submit = () =>
    showSecret(
      create.mutateAsync({
        label: label.trim(),
        scopes: SCOPES.map((each) => each.scope).filter((scope) => scopes.has(scope)),
        user: user.trim() || null,
        expires: expires ? new Date(`${expires}T00:00:00`).toISOString() : null,
      }),
      onMade,
    );
  return (
    <Dialog title={`New key of ${tenant}`} onClose={onClose}>
      <DialogForm action="Make the key" disabled={scopes.size === 0} change={create} onSubmit={submit} onClose={onClose}>
        <TextField label="Label" value={label} maxLength={100} onChange={(event) => setLabel(event.target.value)} />
        <fieldset>
          <legend className="mb-1 text-xs font-medium text-muted">Scopes</legend>
          <div className="grid gap-1">
            {SCOPES.map(({ scope, label: text }) => (
              <CheckField key={scope} label={text} checked={scopes.has(scope)} onChange={() => toggle(scope)} />
            ))}
          </div>
        </fieldset>
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField label="Only for the user (optional)" value={user} onChange={(event) => setUser(event.target.value)} />
          <TextField label="Expires on (optional)" type="date" value={expires} onChange={(event) => setExpires(event.target.value)} />
        </div>
      </DialogForm>
    </Dialog>
  );
}
