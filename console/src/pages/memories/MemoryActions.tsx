import { Ban, Pencil, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";

import { useDelete, useInvalidate, useRevert, type Memory } from "@/api/memories";
import { hasScope, usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";

import type { ChangeProps, Done } from "./changes";
import { CorrectDialog } from "./CorrectDialog";
import { isInvalid } from "./invalid";

type Change = "correct" | "invalidate" | "revert" | "delete";

/** The changes of a memory. Only events can be invalidated or deleted: other memories are made of events. */
export function MemoryActions({ memory, onDone }: { memory: Memory; onDone: Done }) {
  const principal = usePrincipal();
  const [asking, setAsking] = useState<Change | null>(null);
  const close = () => setAsking(null);
  const done: Done = (...outcome) => {
    close();
    onDone(...outcome);
  };
  if (!hasScope(principal, "correct")) return <p className="text-xs text-muted">Your key does not allow changes: it lacks the scope “correct”.</p>;
  const isEvent = memory.kind === "event";
  const invalid = isInvalid(memory);
  const props = { memory, onClose: close, onDone: done };
  return (
    <div className="flex flex-wrap gap-2">
      <Button size="small" onClick={() => setAsking("correct")}>
        <Pencil aria-hidden className="size-3.5" /> Correct
      </Button>
      {memory.correction && (
        <Button size="small" onClick={() => setAsking("revert")}>
          <Undo2 aria-hidden className="size-3.5" /> {invalid ? "Revert the invalidation" : "Revert the correction"}
        </Button>
      )}
      {isEvent && (
        <>
          {!invalid && (
            <Button size="small" onClick={() => setAsking("invalidate")}>
              <Ban aria-hidden className="size-3.5" /> Invalidate
            </Button>
          )}
          <Button size="small" onClick={() => setAsking("delete")}>
            <Trash2 aria-hidden className="size-3.5" /> Delete
          </Button>
        </>
      )}
      {asking === "correct" && <CorrectDialog {...props} />}
      {asking === "revert" && <Revert {...props} />}
      {asking === "invalidate" && <Invalidate {...props} />}
      {asking === "delete" && <Delete {...props} />}
    </div>
  );
}

function Revert({ memory, onClose, onDone }: ChangeProps) {
  const change = useRevert(memory.id);
  const confirm = (reason: string) => change.mutate(reason, { onSuccess: () => onDone("The newest correction is reverted") });
  return (
    <ConfirmDialog title="Revert the newest correction" action="Revert" withReason change={change} onConfirm={confirm} onClose={onClose}>
      <p>The memory gets the values that it had before its newest correction.</p>
    </ConfirmDialog>
  );
}

function Invalidate({ memory, onClose, onDone }: ChangeProps) {
  const change = useInvalidate(memory.id);
  const confirm = (reason: string) => change.mutate(reason, { onSuccess: ({ remaining }) => onDone("The event is invalid", remaining) });
  return (
    <ConfirmDialog title="Invalidate this event" action="Invalidate" tone="danger" withReason change={change} onConfirm={confirm} onClose={onClose}>
      <p>The event was never true. Recalls no longer find it, and entities lose its contribution.</p>
      <p className="text-muted">You can revert this here while the event is kept. Lists no longer show it: note its id if you may want to come back.</p>
    </ConfirmDialog>
  );
}

function Delete({ memory, onClose, onDone }: ChangeProps) {
  const change = useDelete(memory.id);
  const confirm = (reason: string) => change.mutate(reason, { onSuccess: ({ remaining }) => onDone("The event is deleted", remaining, true) });
  return (
    <ConfirmDialog title="Delete this event" action="Delete" typed="delete" withReason change={change} onConfirm={confirm} onClose={onClose}>
      <p>
        <strong>This cannot be undone.</strong> No revert and no later extraction restores the event. Entities lose its contribution.
      </p>
      <blockquote className="line-clamp-3 border-l-2 pl-3 text-muted">{memory.content}</blockquote>
    </ConfirmDialog>
  );
}
