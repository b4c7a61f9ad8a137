import { useState } from "react";

import { useCancel, usePause, useResume, type NewLimits, type Progress } from "@/api/reextractions";
import { hasRole, usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { TextField } from "@/ui/Field";
import { notify } from "@/ui/notices";

type Change = "pause" | "resume" | "cancel";

/** Pauses, resumes or cancels a re-extraction. */
export function ReextractionActions({ progress }: { progress: Progress }) {
  const mayChange = hasRole(usePrincipal(), "admin");
  const [asking, setAsking] = useState<Change | null>(null);
  if (!mayChange || !["running", "paused"].includes(progress.state)) return null;
  const props = { progress, onClose: () => setAsking(null) };
  return (
    <div className="flex flex-wrap gap-2">
      {progress.state === "running" && (
        <Button size="small" onClick={() => setAsking("pause")}>
          Pause
        </Button>
      )}
      <Button size="small" onClick={() => setAsking("resume")}>
        {progress.state === "paused" ? "Resume" : "Change its limits"}
      </Button>
      <Button size="small" onClick={() => setAsking("cancel")}>
        Cancel the re-extraction
      </Button>
      {asking === "pause" && <Pause {...props} />}
      {asking === "resume" && <Resume {...props} />}
      {asking === "cancel" && <Cancel {...props} />}
    </div>
  );
}

interface ChangeProps {
  progress: Progress;
  onClose: () => void;
}

function Pause({ progress, onClose }: ChangeProps) {
  const change = usePause(progress.generation);
  const confirm = () =>
    change.mutate(undefined, {
      onSuccess: () => {
        notify("The re-extraction is paused. Running calls end.");
        onClose();
      },
    });
  return (
    <ConfirmDialog title={`Pause ${progress.generation}`} action="Pause" change={change} onConfirm={confirm} onClose={onClose}>
      <p>What is extracted stays. Live traffic is not affected.</p>
    </ConfirmDialog>
  );
}

function Resume({ progress, onClose }: ChangeProps) {
  const change = useResume(progress.generation);
  const [texts, setTexts] = useState({ budget_tokens: "", budget_cost: "", calls_per_minute: "" });
  const isPaused = progress.state === "paused";
  const confirm = () => {
    const limits = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== "").map(([name, text]) => [name, Number(text)])) as NewLimits;
    change.mutate(limits, {
      onSuccess: () => {
        notify(isPaused ? "The re-extraction continues as soon as a worker runs." : "The limits are stored.");
        onClose();
      },
    });
  };
  const field = (name: keyof typeof texts, label: string, now: number | null, step: number | "any") => (
    <TextField
      label={label}
      type="number"
      min={step === "any" ? 0 : 1}
      step={step}
      placeholder={now === null ? "no limit" : String(now)}
      value={texts[name]}
      onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
    />
  );
  return (
    <ConfirmDialog
      title={isPaused ? `Resume ${progress.generation}` : `Limits of ${progress.generation}`}
      action={isPaused ? "Resume" : "Save"}
      change={change}
      onConfirm={confirm}
      onClose={onClose}
    >
      {isPaused && (
        <p>
          It continues where it stopped. A worker must run: <code className="font-mono text-xs">varve generations work {progress.generation}</code>
        </p>
      )}
      <p className="text-muted">The limits count from its start. An empty field changes nothing.</p>
      <div className="grid gap-3 sm:grid-cols-3">
        {field("budget_tokens", "Tokens in total", progress.budget.tokens, 1)}
        {field("budget_cost", "Cost in total", progress.budget.cost, "any")}
        {field("calls_per_minute", "Calls per minute", progress.budget.calls_per_minute, 1)}
      </div>
    </ConfirmDialog>
  );
}

function Cancel({ progress, onClose }: ChangeProps) {
  const change = useCancel(progress.generation);
  const confirm = () =>
    change.mutate(undefined, {
      onSuccess: () => {
        notify("The re-extraction is being cancelled. Its worker removes what it has extracted.");
        onClose();
      },
    });
  return (
    <ConfirmDialog title={`Cancel ${progress.generation}`} action="Cancel the re-extraction" typed="cancel" change={change} onConfirm={confirm} onClose={onClose}>
      <p>
        <strong>This cannot be undone.</strong> Everything that it has extracted is removed, and the calls were paid for. The live memories stay.
      </p>
      {progress.workers === 0 && (
        <p>
          No worker runs. Afterwards, <code className="font-mono text-xs">varve generations cancel {progress.generation}</code> removes the results.
        </p>
      )}
    </ConfirmDialog>
  );
}
