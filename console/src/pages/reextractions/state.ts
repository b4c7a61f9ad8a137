import type { Progress, Reextraction } from "@/api/reextractions";
import type { Tone } from "@/ui/Badge";

interface State {
  tone: Tone;
  text: string;
}

const STATES: Record<string, State> = {
  running: { tone: "accent", text: "running" },
  paused: { tone: "warn", text: "paused" },
  cancelling: { tone: "warn", text: "being cancelled" },
  cancelled: { tone: "neutral", text: "cancelled" },
  done: { tone: "good", text: "live for every tenant" },
};

export function stateOf(run: Reextraction): State {
  return STATES[run.state] ?? { tone: "neutral", text: run.state };
}

/** The state of a running one in one phrase: what it waits for comes first. */
export function stateOfRunning(progress: Progress): State {
  if (progress.state !== "running") return stateOf(progress);
  if (progress.waits_for_erasure) return { tone: "warn", text: "waits for an erasure" };
  if (progress.workers === 0) return { tone: "bad", text: "no worker runs" };
  if (progress.caught_up) return { tone: "good", text: "caught up" };
  if (progress.yields_to !== null) return { tone: "warn", text: "waits for live traffic" };
  if (progress.waits_for_budget.length > 0) return { tone: "warn", text: "waits for the next day" };
  return { tone: "accent", text: "running" };
}
