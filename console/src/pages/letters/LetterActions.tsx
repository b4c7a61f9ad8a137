import { useState } from "react";

import { usePurge, useRedrive } from "@/api/letters";
import { usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { counted } from "@/ui/format";
import { notify } from "@/ui/notices";

interface Props {
  places: string[];
  /** Which letters these are, in the names of the buttons: "all shown". Default: the one that is open. */
  which?: string;
}

/** Redrives or purges dead letters. */
export function LetterActions({ places, which = "" }: Props) {
  const principal = usePrincipal();
  const redrive = useRedrive(principal);
  const purge = usePurge(principal);
  const [asking, setAsking] = useState<"redrive" | "purge" | null>(null);
  const close = () => setAsking(null);
  const count = counted(places.length, "letter");
  return (
    <>
      <Button size="small" tone="primary" onClick={() => setAsking("redrive")}>
        {`Redrive ${which}`.trim()}
      </Button>
      <Button size="small" onClick={() => setAsking("purge")}>
        {`Purge ${which}`.trim()}
      </Button>
      {asking === "redrive" && (
        <ConfirmDialog
          title={`Redrive ${count}`}
          action="Redrive"
          change={redrive}
          onClose={close}
          onConfirm={() =>
            redrive.mutate(places, {
              onSuccess: (done) => {
                notify(redriveOutcome(done.redriven, done.superseded, done.refused));
                close();
              },
            })
          }
        >
          <p>The records go to their stages again. A record that was processed in the meantime has no second effect.</p>
        </ConfirmDialog>
      )}
      {asking === "purge" && (
        <ConfirmDialog
          title={`Purge ${count}`}
          action="Purge"
          typed="purge"
          change={purge}
          onClose={close}
          onConfirm={() =>
            purge.mutate(places, {
              onSuccess: (done) => {
                notify(`Purged: ${counted(done.purged, "letter")}.`);
                close();
              },
            })
          }
        >
          <p>
            <strong>This cannot be undone.</strong> The records are deleted and will never be processed.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function redriveOutcome(redriven: number, superseded: number, refused: string[]): string {
  const parts = [`${redriven} redriven`];
  if (superseded > 0) parts.push(`${superseded} superseded by newer records`);
  if (refused.length > 0) parts.push(`${refused.length} refused: ${refused[0] ?? ""}`);
  return `${parts.join(", ")}.`;
}
