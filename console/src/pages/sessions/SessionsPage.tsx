import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { sessionsQuery, type SessionRow } from "@/api/sessions";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { counted } from "@/ui/format";
import { LoadMore } from "@/ui/LoadMore";
import { Ago } from "@/ui/Moment";
import { Name } from "@/ui/Name";
import { PageHeader, Panel } from "@/ui/Panel";
import { SearchForm } from "@/ui/SearchForm";
import { Empty, QueryState } from "@/ui/states";
import { Table, type Column } from "@/ui/Table";

import { SessionDialog } from "./SessionDialog";

const route = getRouteApi("/sessions");
const unknown = <span className="text-muted">–</span>;

export function SessionsPage() {
  const { user, session } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(sessionsQuery(user));
  const rows = query.data?.pages.flatMap((page) => page.sessions) ?? [];
  const open = (id: string | undefined) => void navigate({ search: (before) => ({ ...before, session: id }) });
  const columns: Column<SessionRow>[] = [
    {
      key: "session",
      title: "Session",
      cell: (row) => (
        <button type="button" className="text-left font-medium text-accent hover:underline" onClick={() => open(row.session)}>
          <Name text={row.session} />
        </button>
      ),
    },
    { key: "user", title: "User", cell: (row) => <Name text={row.users.join(", ")} /> },
    {
      key: "window",
      title: "Open window",
      cell: (row) => (row.open_window ? <Badge tone="accent">{counted(row.open_window.message_count, "message")}</Badge> : <span className="text-muted">none</span>),
    },
    { key: "closed", title: "Last closed window", wide: true, cell: (row) => (row.closed_window ? counted(row.closed_window.message_count, "message") : unknown) },
    { key: "last", title: "Last message", cell: (row) => <Ago at={row.last_message_at} /> },
  ];
  return (
    <>
      <PageHeader title="Sessions" purpose="Conversations with their open window: messages that wait for the window to close before they are extracted." />
      <Filter key={`${user ?? ""}\n${session ?? ""}`} initial={{ user, session }} />
      <Panel title="Sessions" note={query.data && `${counted(rows.length, "session")}${query.hasNextPage ? " loaded, more follow" : ""}`} flush>
        <QueryState query={query} isEmpty={() => rows.length === 0} empty={user ? (
              <Empty title="No session matches">No recent message of {user} is kept. User ids are exact: capitals and spaces count.</Empty>
            ) : (
              <Empty title="There is no recent session">A session appears with its first message, and leaves this list days after its last one. Its memories stay.</Empty>
            )}>
          {() => <Table caption="Sessions" columns={columns} rows={rows} rowKey={(row) => row.session} selected={session} />}
        </QueryState>
        <LoadMore query={query} />
      </Panel>
      {session && <SessionDialog key={session} session={session} onClose={() => open(undefined)} />}
    </>
  );
}

function Filter({ initial }: { initial: { user?: string; session?: string } }) {
  const navigate = route.useNavigate();
  const [user, setUser] = useState(initial.user ?? "");
  const [session, setSession] = useState(initial.session ?? "");
  return (
    <SearchForm onSearch={() => void navigate({ search: { user: user.trim() || undefined, session: session.trim() || undefined } })}>
      <TextField label="User" className="w-56" value={user} onChange={(event) => setUser(event.target.value)} />
      <TextField label="Open the session" placeholder="Its id" className="w-56" value={session} onChange={(event) => setSession(event.target.value)} />
      <Button type="submit">Apply</Button>
    </SearchForm>
  );
}
