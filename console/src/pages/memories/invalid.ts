import type { Memory } from "@/api/memories";

/** Whether an event was marked as false: only its own page still shows it. */
export const isInvalid = (memory: Memory): boolean => (memory.correction as { action?: string } | null | undefined)?.action === "invalidate";
