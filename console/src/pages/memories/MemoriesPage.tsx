import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import { memoriesQuery, searchQuery, type Memory, type MemoryFilter } from "@/api/memories";
import { counted } from "@/ui/format";
import { LoadMore } from "@/ui/LoadMore";
import { PageHeader, Panel } from "@/ui/Panel";
import { Empty, QueryState } from "@/ui/states";

import { Filters } from "./Filters";
import { MemoryTable } from "./MemoryTable";

const route = getRouteApi("/memories");

export function MemoriesPage() {
  const { q, memory, ...rest } = route.useSearch();
  const navigate = route.useNavigate();
  const filter: MemoryFilter = { user: rest.user, session: rest.session, kind: rest.kind, type: rest.type, since: rest.since, until: rest.until };
  const open = (id: string) => void navigate({ search: (before) => ({ ...before, memory: id }) });
  return (
    <>
      <PageHeader title="Memories" purpose="Everything that was extracted and is live: events, entities, summaries and segments, each with its source messages." />
      <Panel title="Filter">
        <Filters />
      </Panel>
      {q ? <Found text={q} filter={filter} selected={memory} onOpen={open} /> : <All filter={filter} selected={memory} onOpen={open} />}
    </>
  );
}

interface ListProps {
  filter: MemoryFilter;
  selected: string | undefined;
  onOpen: (id: string) => void;
}

function All({ filter, selected, onOpen }: ListProps) {
  const query = useInfiniteQuery(memoriesQuery(filter));
  const memories: Memory[] = query.data?.pages.flatMap((page) => page.memories) ?? [];
  return (
    <Panel title="Live memories" note={query.data && `${counted(memories.length, "memory")}${query.hasNextPage ? " loaded, more follow" : ""}, in the order of their ids`} flush>
      <QueryState query={query} rows={8} isEmpty={() => memories.length === 0} empty={<NothingFound isFiltered={Object.values(filter).some(Boolean)} />}>
        {() => <MemoryTable memories={memories} selected={selected} onOpen={onOpen} />}
      </QueryState>
      <LoadMore query={query} />
    </Panel>
  );
}

function Found({ text, filter, selected, onOpen }: ListProps & { text: string }) {
  const query = useQuery(searchQuery(text, filter));
  return (
    <Panel title="Search results" note={query.data && `${counted(query.data.results.length, "memory")}, best first`} flush>
      <QueryState query={query} rows={8} isEmpty={(found) => found.results.length === 0} empty={<NothingFound isFiltered />}>
        {(found) => <MemoryTable memories={found.results} scores={found.results.map((result) => result.score)} selected={selected} onOpen={onOpen} />}
      </QueryState>
    </Panel>
  );
}

function NothingFound({ isFiltered }: { isFiltered: boolean }) {
  const waiting = (
    <>
      New messages become memories when their window closes: see{" "}
      <Link to="/sessions" className="text-accent underline">
        Sessions
      </Link>
      .
    </>
  );
  if (!isFiltered) return <Empty title="There is no memory yet">{waiting}</Empty>;
  return <Empty title="No memory matches">Check the spelling of ids and types, or remove a filter. {waiting}</Empty>;
}
