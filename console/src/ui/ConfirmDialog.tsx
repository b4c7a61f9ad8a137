import { useState, type ReactNode } from "react";

import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { TextField } from "./Field";
import { ErrorNote } from "./states";

interface Props {
  title: string;
  children: ReactNode;
  action: string;
  /** A word that has to be typed before a change that cannot be undone. */
  typed?: string;
  /** Whether to ask for a reason, which is stored with the change. */
  withReason?: boolean;
  /** `danger` for changes that remove something. */
  tone?: "danger" | "primary";
  busy: boolean;
  error: Error | null;
  onConfirm: (reason: string) => void;
  onClose: () => void;
}

/** Asks before a change. */
export function ConfirmDialog({ title, children, action, typed, withReason = false, tone = "danger", busy, error, onConfirm, onClose }: Props) {
  const [word, setWord] = useState("");
  const [reason, setReason] = useState("");
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm(reason.trim());
        }}
      >
        <div className="space-y-2 text-sm">{children}</div>
        {withReason && <TextField label="Reason (optional, stored with the change)" value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />}
        {typed && <TextField label={`Type “${typed}” to confirm`} value={word} autoComplete="off" onChange={(event) => setWord(event.target.value)} />}
        {error && <ErrorNote error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone={tone} busy={busy} disabled={typed !== undefined && word !== typed}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
