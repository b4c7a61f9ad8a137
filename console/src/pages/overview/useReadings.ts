import { useState } from "react";

import type { Overview } from "@/api/pipeline";

const KEPT = 120;

/** The readings since the page was opened, oldest first. */
export function useReadings(latest: Overview | undefined): Overview[] {
  const [readings, setReadings] = useState<Overview[]>([]);
  if (latest !== undefined && readings.at(-1)?.read_at !== latest.read_at) {
    const next = [...readings, latest].slice(-KEPT);
    setReadings(next);
    return next;
  }
  return readings;
}
