import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { memoryQuery, type Memory } from "@/api/memories";
import { ApiError } from "@/api/errors";
import { Code } from "@/ui/Code";
import { Dialog } from "@/ui/Dialog";
import { Json } from "@/ui/Json";
import { notify } from "@/ui/notices";
import { Empty, QueryState } from "@/ui/states";
import { Tabs } from "@/ui/Tabs";

import type { Done } from "./changes";
import { EvidenceTab } from "./EvidenceTab";
import { HistoryTab } from "./HistoryTab";
import { isInvalid } from "./invalid";
import { MemoryActions } from "./MemoryActions";
import { MemoryFacts } from "./MemoryFacts";
import { Content, TypeBadge } from "./MemoryTable";
import { RemainingDialog, type Remaining } from "./RemainingDialog";

/** What was done, where the old content is left, and whether the memory was deleted. */
interface Outcome {
  title: string;
  remaining: Remaining[];
  isGone: boolean;
}

/** One memory: its content, where it comes from, its history, and the changes that the key allows. */
export function MemoryDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery(memoryQuery(id));
  const isMissing = query.error instanceof ApiError && query.error.status === 404;
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const leave = (isGone: boolean) => {
    setOutcome(null);
    if (isGone) onClose();
  };
  const done: Done = (title, remaining, isGone = false) => {
    notify(`${title}. Entities and recalls follow within moments.`);
    if (remaining?.length) setOutcome({ title, remaining, isGone });
    else leave(isGone);
  };
  return (
    <Dialog title="Memory" shape="sheet" onClose={onClose}>
      {isMissing ? (
        <Empty title="There is no such memory">
          It may have been deleted, extracted again, or removed by retention or an erasure. <Code text={id} />
        </Empty>
      ) : (
        <QueryState query={query}>{(memory) => <MemoryView memory={memory} onDone={done} />}</QueryState>
      )}
      {/* Here and not in the view: a deleted memory has none any more. */}
      {outcome && <RemainingDialog title={outcome.title} remaining={outcome.remaining} onClose={() => leave(outcome.isGone)} />}
    </Dialog>
  );
}

function MemoryView({ memory, onDone }: { memory: Memory; onDone: Done }) {
  const [tab, setTab] = useState("evidence");
  return (
    <div className="space-y-4">
      <div className="space-y-2">
        <TypeBadge memory={memory} wraps />
        {isInvalid(memory) && (
          <p className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">This event was marked as never true. Lists, recalls and entities leave it out.</p>
        )}
        <p className="text-base leading-6 break-words">
          <Content memory={memory} />
        </p>
      </div>
      <MemoryActions memory={memory} onDone={onDone} />
      <p className="text-sm">
        <Link to="/recall" search={{ user: memory.user ?? undefined, why: memory.id }} className="text-accent underline">
          Debug a recall of this memory
        </Link>
      </p>
      <Tabs
        label="Parts of the memory"
        value={tab}
        onChange={setTab}
        tabs={[
          { key: "evidence", title: `Evidence (${memory.evidence.length})`, content: <EvidenceTab memory={memory} /> },
          { key: "facts", title: "Details", content: <MemoryFacts memory={memory} /> },
          { key: "history", title: "History", content: <HistoryTab memory={memory} /> },
          { key: "json", title: "JSON", content: <Json label="The memory as JSON" value={memory} /> },
        ]}
      />
    </div>
  );
}
