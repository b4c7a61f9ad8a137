import { useInfiniteQuery } from "@tanstack/react-query";

import { historyQuery } from "@/api/entities";
import type { Memory } from "@/api/memories";
import { LoadMore } from "@/ui/LoadMore";
import { QueryState } from "@/ui/states";

import { Steps } from "../entities/Steps";
import { EventSteps } from "./EventSteps";

export function HistoryTab({ memory }: { memory: Memory }) {
  if (memory.kind === "entity" && memory.entity_key) return <EntityHistory type={memory.type} entityKey={memory.entity_key} />;
  return <EventSteps memory={memory} />;
}

function EntityHistory({ type, entityKey }: { type: string; entityKey: string }) {
  const query = useInfiniteQuery(historyQuery(type, entityKey));
  return (
    <>
      <QueryState query={query}>{(data) => <Steps steps={data.pages.flatMap((page) => page.steps)} />}</QueryState>
      <LoadMore query={query} className="pt-3" />
    </>
  );
}
