import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { methodsQuery, revisionsQuery, type Revision } from "@/api/schemas";
import { usePrincipal } from "@/api/session";
import { counted } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { Empty, QueryState } from "@/ui/states";

const route = getRouteApi("/schemas");

/** The schemas and methods to open in the editor. */
export function Choices() {
  const principal = usePrincipal();
  const revisions = useQuery(revisionsQuery(principal));
  const methods = useQuery(methodsQuery(principal));
  const { schema, method } = route.useSearch();
  return (
    <div className="space-y-4">
      <Panel
        title="Schemas"
        actions={
          <Link to="/schemas" search={{ schema: "new" }} className="text-xs font-medium text-accent underline">
            New
          </Link>
        }
        flush
      >
        <QueryState query={revisions} isEmpty={(data) => data.length === 0} empty={<Empty title="There is no schema yet" />}>
          {(data) => (
            <ul className="max-h-56 overflow-y-auto p-1.5">
              {data.map((revision) => (
                <Choice key={revision.schema} search={{ schema: revision.schema }} isChosen={!method && schema === revision.schema} note={noteOf(revision)}>
                  {revision.schema}
                </Choice>
              ))}
            </ul>
          )}
        </QueryState>
      </Panel>
      <Panel title="Memory methods" flush>
        <QueryState query={methods}>
          {(data) => (
            <ul className="max-h-80 overflow-y-auto p-1.5">
              {data.map((each) => (
                <Choice key={each.method} search={{ method: each.method }} isChosen={method === each.method} note={each.description}>
                  {each.method}
                </Choice>
              ))}
            </ul>
          )}
        </QueryState>
      </Panel>
    </div>
  );
}

interface ChoiceProps {
  search: { schema?: string; method?: string };
  isChosen: boolean;
  note: string;
  children: ReactNode;
}

function Choice({ search, isChosen, note, children }: ChoiceProps) {
  return (
    <li>
      <Link to="/schemas" search={search} aria-current={isChosen || undefined} className="block rounded-md px-2.5 py-1.5 text-sm hover:bg-raised aria-[current]:bg-accent-soft aria-[current]:text-accent">
        <span className="block truncate font-mono text-xs font-medium">{children}</span>
        <span className="block truncate text-xs text-muted" title={note}>
          {note}
        </span>
      </Link>
    </li>
  );
}

function noteOf(revision: Revision): string {
  if (revision.in_force) return "in use";
  if (revision.own !== undefined) return revision.own ? "your own" : "shared";
  return `${counted(revision.tenants ?? 0, "tenant")}${revision.owner ? `, only for ${revision.owner}` : ""}`;
}
