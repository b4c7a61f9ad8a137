import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { hasScope, usePrincipal } from "@/api/session";
import { sessionTailQuery, useFlush, usePreview, type SessionMessage } from "@/api/sessions";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { Dialog } from "@/ui/Dialog";
import { MessageList } from "@/ui/MessageList";
import { notify } from "@/ui/notices";
import { Empty, ErrorNote, QueryState } from "@/ui/states";

import { PreviewView } from "./PreviewView";

export function SessionDialog({ session, onClose }: { session: string; onClose: () => void }) {
  const query = useQuery(sessionTailQuery(session));
  return (
    <Dialog title={`Session ${session}`} shape="sheet" onClose={onClose}>
      <p className="mb-4 text-sm">
        <Link to="/memories" search={{ session }} className="text-accent underline">
          Memories of this session
        </Link>
      </p>
      <QueryState query={query} isEmpty={(data) => data.messages.length === 0} empty={<Empty title="No recent message is kept for this session" />}>
        {(data) => <Windows session={session} messages={data.messages.map((each) => ({ window: each.window_sequence, message: each.message as unknown as SessionMessage }))} open={data.open_window?.sequence ?? null} />}
      </QueryState>
    </Dialog>
  );
}

interface WindowsProps {
  session: string;
  messages: { window: number; message: SessionMessage }[];
  /** The number of the open window. */
  open: number | null;
}

function Windows({ session, messages, open }: WindowsProps) {
  const principal = usePrincipal();
  const numbers = [...new Set(messages.map((each) => each.window))];
  return (
    <div className="space-y-6">
      {hasScope(principal, "operate") && <DryRun session={session} />}
      {numbers.map((number) => (
        <section key={number} className="space-y-2">
          <h3 className="flex flex-wrap items-center gap-2 text-sm font-semibold">
            Window {number}
            {number === open ? <Badge tone="accent">open</Badge> : <Badge>closed</Badge>}
            {number === open && hasScope(principal, "ingest") && principal.user === null && <Flush session={session} />}
          </h3>
          <MessageList label={`Messages of window ${number}`} messages={messages.filter((each) => each.window === number).map((each) => each.message)} />
        </section>
      ))}
    </div>
  );
}

function Flush({ session }: { session: string }) {
  const flush = useFlush(session);
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <Button size="small" className="ml-auto" onClick={() => setIsAsking(true)}>
        Close the window now
      </Button>
      {isAsking && (
        <ConfirmDialog
          title="Close the open window"
          action="Close the window"
          change={flush}
          onClose={() => setIsAsking(false)}
          onConfirm={() =>
            flush.mutate(undefined, {
              onSuccess: () => {
                notify("The window closes now. Its memories appear within seconds.");
                setIsAsking(false);
              },
            })
          }
        >
          <p>Its messages are extracted now, without those that may follow.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function DryRun({ session }: { session: string }) {
  const preview = usePreview(session);
  return (
    <section className="space-y-3 rounded-md border p-3">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 flex-1 basis-48">
          <h3 className="text-sm font-semibold">Dry run</h3>
          <p className="text-xs text-muted">Shows what the extraction would store for the newest window. Nothing is stored.</p>
        </div>
        <Button size="small" busy={preview.isPending} onClick={() => preview.mutate({ limit: 1 })}>
          Run
        </Button>
      </div>
      {preview.isError && <ErrorNote error={preview.error} />}
      {preview.data && <PreviewView windows={preview.data.windows} />}
    </section>
  );
}
