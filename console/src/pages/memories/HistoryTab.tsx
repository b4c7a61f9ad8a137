import { useInfiniteQuery } from "@tanstack/react-query";

import { historyQuery } from "@/api/entities";
import type { Memory } from "@/api/memories";
import { Facts } from "@/ui/Facts";
import { Json } from "@/ui/Json";
import { Empty, QueryState } from "@/ui/states";

import { Steps } from "../entities/Steps";

export function HistoryTab({ memory }: { memory: Memory }) {
  if (memory.kind === "entity" && memory.entity_key) return <EntityHistory type={memory.type} entityKey={memory.entity_key} />;
  return (
    <div className="space-y-4">
      <Facts
        items={[
          ["Version", memory.version],
          ["Window", memory.window_id && <code className="font-mono text-xs">{memory.window_id}</code>],
        ]}
      />
      {memory.correction ? <Json label="Corrections in force" value={memory.correction} /> : <Empty title="No correction is in force">The memory is as it was extracted.</Empty>}
    </div>
  );
}

function EntityHistory({ type, entityKey }: { type: string; entityKey: string }) {
  const query = useInfiniteQuery(historyQuery(type, entityKey));
  return <QueryState query={query}>{(data) => <Steps steps={data.pages.flatMap((page) => page.steps)} />}</QueryState>;
}
