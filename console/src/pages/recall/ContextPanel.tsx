import type { UseQueryResult } from "@tanstack/react-query";

import type { ContextBlock } from "@/api/recall";
import { counted, listed } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { QueryState } from "@/ui/states";

import { MemoryLink } from "../memories/MemoryLink";

/** The block of text that an LLM gets for the same question. */
export function ContextPanel({ query }: { query: UseQueryResult<ContextBlock> }) {
  return (
    <Panel title="Context for the LLM" note={query.data && `${counted(query.data.tokens, "token")}${query.data.left_out ? `, ${counted(query.data.left_out, "memory")} left out` : ""}`}>
      <QueryState query={query}>
        {(block) => (
          <div className="space-y-3">
            {block.context === "" ? <p className="text-sm text-muted">The block is empty: nothing was found.</p> : <Block text={block.context} />}
            <details>
              <summary className="text-xs text-muted hover:text-ink">{counted(block.citations.length, "citation")}</summary>
              <ul className="mt-2 space-y-1 text-xs">
                {block.citations.map((citation) => (
                  <li key={citation.mark} className="flex flex-wrap gap-x-2">
                    <code className="font-mono">[{citation.mark}]</code>
                    <MemoryLink id={citation.id} />
                    <span className="text-muted">messages {listed(citation.evidence) || "none"}</span>
                  </li>
                ))}
              </ul>
            </details>
          </div>
        )}
      </QueryState>
    </Panel>
  );
}

function Block({ text }: { text: string }) {
  return (
    // A region that scrolls has to be reachable with the keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre role="region" aria-label="Context block" tabIndex={0} className="max-h-[32rem] overflow-auto rounded-md bg-raised p-3 font-mono text-xs leading-5 whitespace-pre-wrap">
      {text}
    </pre>
  );
}
