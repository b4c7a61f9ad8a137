import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { memoriesQuery, type Memory } from "@/api/memories";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { TextField } from "@/ui/Field";
import { readableKey } from "@/ui/format";
import { LoadMore } from "@/ui/LoadMore";
import { PageHeader, Panel } from "@/ui/Panel";
import { SearchForm } from "@/ui/SearchForm";
import { Empty, QueryState } from "@/ui/states";

import { EntityView } from "./EntityView";

const route = getRouteApi("/entities");

export function EntitiesPage() {
  const { user, type, entity } = route.useSearch();
  const query = useInfiniteQuery(memoriesQuery({ kind: "entity", user, type }));
  const entities = query.data?.pages.flatMap((page) => page.memories) ?? [];
  const chosen = entity ?? (entities[0] && pathOf(entities[0]));
  return (
    <>
      <PageHeader title="Entities" purpose="State that is aggregated from events, such as user profiles, with every change. Move the slider to see an earlier state." />
      <div className="grid items-start grid-cols-1 gap-4 lg:grid-cols-[17rem_minmax(0,1fr)]">
        <Panel title="Entities" flush>
          <div className="border-b p-3">
            <Filter key={`${user ?? ""}\n${type ?? ""}`} initial={{ user, type }} />
          </div>
          <QueryState query={query} isEmpty={() => entities.length === 0} empty={<Empty title={user || type ? "No entity matches" : "There is no entity yet"}>An entity appears when an event or a patch updates it.</Empty>}>
            {() => <EntityList entities={entities} chosen={chosen} />}
          </QueryState>
          <LoadMore query={query} />
        </Panel>
        {chosen ? <EntityView key={chosen} path={chosen} /> : <Panel>{query.isPending ? null : <Empty title="No entity is chosen" />}</Panel>}
      </div>
    </>
  );
}

function pathOf(memory: Memory): string {
  return `${memory.type}/${memory.entity_key ?? ""}`;
}

function EntityList({ entities, chosen }: { entities: Memory[]; chosen: string | undefined }) {
  const navigate = route.useNavigate();
  return (
    <ul className="max-h-64 overflow-y-auto p-1.5 lg:max-h-[36rem]">
      {entities.map((each) => {
        const path = pathOf(each);
        return (
          <li key={each.id}>
            <button
              type="button"
              aria-current={path === chosen}
              onClick={() => void navigate({ search: (before) => ({ ...before, entity: path, at: undefined }) })}
              className={cx("w-full rounded-md px-2.5 py-1.5 text-left text-sm", path === chosen ? "bg-accent-soft text-accent" : "hover:bg-raised")}
            >
              <span className="block truncate font-medium">{readableKey(each.entity_key ?? "")}</span>
              <span className={cx("block truncate font-mono text-xs", path !== chosen && "text-muted")}>{each.type}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function Filter({ initial }: { initial: { user?: string; type?: string } }) {
  const navigate = route.useNavigate();
  const [user, setUser] = useState(initial.user ?? "");
  const [type, setType] = useState(initial.type ?? "");
  return (
    <SearchForm className="grid grid-cols-2 gap-2" onSearch={() => void navigate({ search: { user: user.trim() || undefined, type: type.trim() || undefined } })}>
      <TextField label="User" value={user} onChange={(event) => setUser(event.target.value)} />
      <TextField label="Type" value={type} onChange={(event) => setType(event.target.value)} />
      <Button type="submit" size="small" className="col-span-2">
        Apply
      </Button>
    </SearchForm>
  );
}
