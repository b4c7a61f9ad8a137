import type { Memory } from "@/api/memories";

import type { Remaining } from "./RemainingDialog";

/** Reports what was done, where the old content is left, and whether the memory was deleted. */
export type Done = (title: string, remaining?: Remaining[] | null, isGone?: boolean) => void;

/** Properties of a dialog that changes a memory. */
export interface ChangeProps {
  memory: Memory;
  onClose: () => void;
  onDone: Done;
}
