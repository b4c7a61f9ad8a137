import type { Erasure } from "@/api/erasures";
import { Badge, type Tone } from "@/ui/Badge";

export function ErasureState({ erasure }: { erasure: Erasure }) {
  const [tone, text] = stateOf(erasure);
  return <Badge tone={tone}>{text}</Badge>;
}

function stateOf(erasure: Erasure): [Tone, string] {
  if (erasure.remains.length > 0) return ["bad", "something remains"];
  if (erasure.finished_at !== null) return ["good", "erased and verified"];
  if (erasure.problem !== null) return ["bad", "failed"];
  return erasure.running ? ["accent", "in progress"] : ["warn", "waits for a process"];
}
