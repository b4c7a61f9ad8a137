import type { Schemas } from "@/api/client";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";

import { MemoryLink } from "./MemoryLink";

export type Remaining = Schemas["RemainingContent"];

interface Props {
  /** What was done. */
  title: string;
  remaining: Remaining[];
  onClose: () => void;
}

/** Where the old content of an event is left after a change. */
export function RemainingDialog({ title, remaining, onClose }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="space-y-4 text-sm">
        <p>The old content is still in:</p>
        <ul aria-label="What remains" className="space-y-2">
          {remaining.map(({ what, id, reason }) => (
            <li key={`${what}/${id}`} className="rounded-md border px-3 py-2">
              <p className="flex min-w-0 flex-wrap items-center gap-2">
                <Badge>{what}</Badge>
                {what === "message" ? (
                  <code className="min-w-0 font-mono text-xs break-all">{id}</code>
                ) : (
                  <MemoryLink id={id} onClick={onClose} />
                )}
              </p>
              <p className="mt-1 text-xs text-muted">{reason}</p>
            </li>
          ))}
        </ul>
        <div className="flex justify-end">
          <Button onClick={onClose}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}
