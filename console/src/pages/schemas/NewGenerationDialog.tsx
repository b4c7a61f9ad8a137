import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useAnnounce } from "@/api/generations";
import { methodsQuery, revisionsQuery } from "@/api/schemas";
import { usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { Code } from "@/ui/Code";
import { Dialog } from "@/ui/Dialog";
import { DialogForm } from "@/ui/DialogForm";
import { SelectField, TextField } from "@/ui/Field";

/** Announces a generation, and shows the command that writes it from the log. */
export function NewGenerationDialog({ tenant, onClose }: { tenant: string; onClose: () => void }) {
  const principal = usePrincipal();
  const announce = useAnnounce(tenant);
  const revisions = useQuery(revisionsQuery(principal));
  const methods = useQuery(methodsQuery(principal));
  const [name, setName] = useState("");
  const [schema, setSchema] = useState("");
  const [method, setMethod] = useState("");
  const usable = (revisions.data ?? []).filter((each) => each.owner == null || each.owner === tenant);

  return (
    <Dialog title={`New generation of ${tenant}`} onClose={onClose}>
      {announce.isSuccess ? (
        <div className="space-y-4 text-sm">
          <p>The generation {name} is announced. This command estimates the model calls that fill it from all past messages, asks for confirmation, and starts. Recalls read the live generation until you switch:</p>
          <Code text={`varve generations start ${name} --tenant ${tenant}`} />
          <p className="text-muted">The page “Re-extractions” shows its progress. Make the generation live when it has caught up.</p>
          <div className="flex justify-end">
            <Button onClick={onClose}>Close</Button>
          </div>
        </div>
      ) : (
        <DialogForm action="Announce" change={announce} onSubmit={() => announce.mutate({ name, schema: schema || null, method: method || null })} onClose={onClose}>
          <TextField label="Name" required maxLength={64} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" value={name} onChange={(event) => setName(event.target.value)} />
          <SelectField
            label="Schema"
            options={[{ value: "", label: "That of the live generation" }, ...usable.map((each) => ({ value: each.schema, label: each.schema }))]}
            value={schema}
            onChange={(event) => setSchema(event.target.value)}
          />
          <SelectField
            label="Method"
            options={[{ value: "", label: "That of the schema" }, ...(methods.data ?? []).map((each) => ({ value: each.method, label: each.method }))]}
            value={method}
            onChange={(event) => setMethod(event.target.value)}
          />
        </DialogForm>
      )}
    </Dialog>
  );
}
