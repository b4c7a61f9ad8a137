import { useState } from "react";

import { useErase } from "@/api/erasures";
import { usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { TextField } from "@/ui/Field";
import { notify } from "@/ui/notices";
import { ErrorNote } from "@/ui/states";

export function EraseDialog({ onClose }: { onClose: () => void }) {
  const principal = usePrincipal();
  const limitedTo = useTenant();
  const [tenant, setTenant] = useState(principal.tenant ?? limitedTo ?? "");
  const [user, setUser] = useState(principal.user ?? "");
  const [repeated, setRepeated] = useState("");
  const [reason, setReason] = useState("");
  const erase = useErase(principal);
  return (
    <Dialog title="Erase a user" onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          erase.mutate(
            { tenant, user, reason: reason.trim() },
            {
              onSuccess: () => {
                notify("The erasure has started. Its receipt appears after verification.");
                onClose();
              },
            },
          );
        }}
      >
        <p className="text-sm">
          <strong>This cannot be undone or stopped.</strong> It removes the user’s messages, memories, state and history. Messages that the user sends later are kept.
        </p>
        {principal.kind === "operator" && <TextField label="Tenant" required value={tenant} onChange={(event) => setTenant(event.target.value)} />}
        <TextField label="User" required autoComplete="off" disabled={principal.user !== null} value={user} onChange={(event) => setUser(event.target.value)} />
        <TextField label="The same user again" required autoComplete="off" value={repeated} onChange={(event) => setRepeated(event.target.value)} />
        <TextField label="Reason (optional)" hint="It is stored forever: do not enter names." maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
        {erase.isError && <ErrorNote error={erase.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="danger" busy={erase.isPending} disabled={user === "" || user !== repeated}>
            Erase
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
