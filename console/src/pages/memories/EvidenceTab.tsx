import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { evidenceQuery, type Memory } from "@/api/memories";
import { MessageList, type ShownMessage } from "@/ui/MessageList";
import { Empty, QueryState } from "@/ui/states";

export function EvidenceTab({ memory }: { memory: Memory }) {
  const query = useQuery(evidenceQuery(memory.id));
  return (
    <QueryState query={query} isEmpty={(evidence) => evidence.messages.length + evidence.missing.length === 0} empty={<Empty title="This memory names no source message" />}>
      {(evidence) => (
        <div className="space-y-3">
          <MessageList messages={evidence.messages} label="Source messages" renderId={SessionLink} />
          {evidence.missing.length > 0 && (
            <p className="text-sm text-muted">
              Not readable any more: <span className="font-mono text-xs">{evidence.missing.join(", ")}</span>
            </p>
          )}
        </div>
      )}
    </QueryState>
  );
}

/** The message's place, which leads to its conversation. */
function SessionLink({ session, id }: ShownMessage) {
  if (!session) return <code className="font-mono">{id}</code>;
  return (
    <Link to="/sessions" search={{ session }} className="font-mono break-all text-accent underline">
      {session}/{id}
    </Link>
  );
}
