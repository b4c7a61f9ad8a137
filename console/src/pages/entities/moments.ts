import type { AtTime, Step } from "@/api/entities";

/** Event time: what was true then. Recording time: what was known then. */
export type Clock = "as_of" | "known_at";

const timeOf = (step: Step, clock: Clock) => (clock === "as_of" ? step.time : step.recorded_at);

/** The times at which the entity changed, each once, oldest first. */
export function changeTimes(steps: Step[], clock: Clock): string[] {
  return [...new Set(steps.map((step) => timeOf(step, clock)))].sort((left, right) => Date.parse(left) - Date.parse(right));
}

/** The time of a position of the slider. The last position is the present. */
export function momentAt(times: string[], position: number, clock: Clock): AtTime {
  const time = times[position];
  return time === undefined ? {} : { [clock]: time };
}
