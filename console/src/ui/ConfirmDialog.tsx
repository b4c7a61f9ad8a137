import { useState, type ReactNode } from "react";

import { Dialog } from "./Dialog";
import { DialogForm, type Change } from "./DialogForm";
import { TextField } from "./Field";

interface Props {
  title: string;
  children: ReactNode;
  action: string;
  /** A word that has to be typed before a change that cannot be undone. */
  typed?: string;
  /** Whether to ask for a reason, which is stored with the change. */
  withReason?: boolean;
  /** `danger` for changes that remove something. Default: for those that cannot be undone. */
  tone?: "danger" | "primary";
  change: Change;
  onConfirm: (reason: string) => void;
  onClose: () => void;
}

/** Asks before a change. */
export function ConfirmDialog({ title, children, action, typed, withReason = false, tone = typed ? "danger" : "primary", change, onConfirm, onClose }: Props) {
  const [word, setWord] = useState("");
  const [reason, setReason] = useState("");
  return (
    <Dialog title={title} onClose={onClose}>
      <DialogForm action={action} tone={tone} disabled={typed !== undefined && word !== typed} change={change} onSubmit={() => onConfirm(reason.trim())} onClose={onClose}>
        <div className="space-y-2 text-sm">{children}</div>
        {withReason && <TextField label="Reason (optional, stored with the change)" value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />}
        {typed && <TextField label={`Type “${typed}” to confirm`} value={word} autoComplete="off" onChange={(event) => setWord(event.target.value)} />}
      </DialogForm>
    </Dialog>
  );
}
