import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { linksQuery, type LinkGraph } from "@/api/links";
import { usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { counted } from "@/ui/format";
import { PageHeader, Panel } from "@/ui/Panel";
import { SearchForm } from "@/ui/SearchForm";
import { Empty, QueryState } from "@/ui/states";

import { Graph } from "./Graph";
import { NodeDetails } from "./NodeDetails";

const route = getRouteApi("/links");

export function LinksPage() {
  const { user, node } = route.useSearch();
  const query = useQuery(linksQuery(user));
  return (
    <>
      <PageHeader title="Link graph" purpose="Memories and the links between them, where the tenant’s memory method makes links." />
      <Filter key={user ?? ""} initial={user ?? ""} />
      <QueryState query={query} rows={10} isEmpty={(graph) => !graph.available || graph.nodes.length === 0} empty={<NoGraph graph={query.data} />}>
        {(graph) => <Shown graph={graph} chosen={node} />}
      </QueryState>
    </>
  );
}

function NoGraph({ graph }: { graph: LinkGraph | undefined }) {
  return (
    <Panel>
      {graph?.available ? (
        <Empty title="No links yet">A link appears when the method finds that two memories are related.</Empty>
      ) : (
        <Empty title="The memory method of this tenant makes no links">Methods such as amem, mem0g and zep do. An operator chooses the method of a tenant.</Empty>
      )}
    </Panel>
  );
}

function Shown({ graph, chosen }: { graph: LinkGraph; chosen: string | undefined }) {
  const navigate = route.useNavigate();
  const choose = (id: string | undefined) => void navigate({ replace: true, search: (before) => ({ ...before, node: id }) });
  const node = graph.nodes.find((each) => each.id === chosen);
  return (
    <div className="grid items-start grid-cols-1 gap-4 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <Panel title="Graph" note={`${counted(graph.nodes.length, "memory")}, ${counted(graph.edges.length, "link")}${graph.truncated ? "; more are left out" : ""}`} flush>
        <Graph graph={graph} chosen={chosen} onChoose={choose} />
      </Panel>
      <Panel title="Memory">{node ? <NodeDetails graph={graph} node={node} onChoose={choose} /> : <Empty title="Choose a memory in the graph" />}</Panel>
    </div>
  );
}

function Filter({ initial }: { initial: string }) {
  const principal = usePrincipal();
  const navigate = route.useNavigate();
  const [user, setUser] = useState(principal.user ?? initial);
  return (
    <SearchForm onSearch={() => void navigate({ search: { user: user.trim() || undefined } })}>
      <TextField label="User" className="w-56" disabled={principal.user !== null} value={user} onChange={(event) => setUser(event.target.value)} />
      <Button type="submit">Apply</Button>
    </SearchForm>
  );
}
