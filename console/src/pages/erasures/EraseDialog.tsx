import { useState } from "react";

import { useErase } from "@/api/erasures";
import { usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { Dialog } from "@/ui/Dialog";
import { DialogForm } from "@/ui/DialogForm";
import { TextField } from "@/ui/Field";
import { notify } from "@/ui/notices";

export function EraseDialog({ onClose }: { onClose: () => void }) {
  const principal = usePrincipal();
  const limitedTo = useTenant();
  const [tenant, setTenant] = useState(principal.tenant ?? limitedTo ?? "");
  const [user, setUser] = useState(principal.user ?? "");
  const [repeated, setRepeated] = useState("");
  const [reason, setReason] = useState("");
  const erase = useErase(principal);
  const submit = () =>
    erase.mutate(
      { tenant, user, reason: reason.trim() },
      {
        onSuccess: () => {
          notify("The erasure has started. Its receipt appears after verification.");
          onClose();
        },
      },
    );
  return (
    <Dialog title="Erase a user" onClose={onClose}>
      <DialogForm action="Erase" tone="danger" disabled={user === "" || user !== repeated} change={erase} onSubmit={submit} onClose={onClose}>
        <p className="text-sm">
          <strong>This cannot be undone or stopped.</strong> It removes the user’s messages, memories, state and history. Messages that the user sends later are kept.
        </p>
        {principal.kind === "operator" && <TextField label="Tenant" required value={tenant} onChange={(event) => setTenant(event.target.value)} />}
        <TextField label="User" required autoComplete="off" disabled={principal.user !== null} value={user} onChange={(event) => setUser(event.target.value)} />
        <TextField label="The same user again" required autoComplete="off" value={repeated} onChange={(event) => setRepeated(event.target.value)} />
        <TextField label="Reason (optional)" hint="It is stored forever: do not enter names." maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
      </DialogForm>
    </Dialog>
  );
}
