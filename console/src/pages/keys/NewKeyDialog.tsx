import { useState } from "react";

import { useCreateKey } from "@/api/keys";
import type { Scope } from "@/api/session";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { CheckField, TextField } from "@/ui/Field";
import { ErrorNote } from "@/ui/states";

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
  return (
    <Dialog title={`New key of ${tenant}`} onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(
            {
              label: label.trim(),
              scopes: SCOPES.map((each) => each.scope).filter((scope) => scopes.has(scope)),
              user: user.trim() || null,
              expires: expires ? new Date(`${expires}T00:00:00`).toISOString() : null,
            },
            { onSuccess: (made) => onMade(made.key) },
          );
        }}
      >
        <TextField label="Label" value={label} maxLength={200} onChange={(event) => setLabel(event.target.value)} />
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
        {create.isError && <ErrorNote error={create.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={create.isPending} disabled={scopes.size === 0}>
            Make the key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
