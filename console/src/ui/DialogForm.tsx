import type { UseMutationResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Button } from "./Button";
import { ErrorNote } from "./states";

/** What a dialog shows of the change that it makes. */
export type Change = Pick<UseMutationResult, "isPending" | "error">;

interface Props {
  children: ReactNode;
  action: string;
  /** `danger` for changes that remove something. */
  tone?: "danger" | "primary";
  disabled?: boolean;
  change: Change;
  onSubmit: () => void;
  onClose: () => void;
}

/** The form of a dialog: its fields, why the change failed, and the buttons. */
export function DialogForm({ children, action, tone = "primary", disabled, change, onSubmit, onClose }: Props) {
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {change.error && <ErrorNote error={change.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone={tone} busy={change.isPending} disabled={disabled}>
          {action}
        </Button>
      </div>
    </form>
  );
}
