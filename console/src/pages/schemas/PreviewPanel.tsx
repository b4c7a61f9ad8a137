import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Schemas } from "@/api/client";
import type { Draft } from "@/api/schemas";
import { sessionsQuery, usePreview } from "@/api/sessions";
import { hasScope, usePrincipal } from "@/api/session";
import { PreviewView } from "@/pages/sessions/PreviewView";
import { Button } from "@/ui/Button";
import { SelectField } from "@/ui/Field";
import { Panel } from "@/ui/Panel";
import { Empty, ErrorNote } from "@/ui/states";

/** Extracts recent windows with the edited schema, and stores nothing. */
export function PreviewPanel({ draft }: { draft: Draft | null }) {
  const principal = usePrincipal();
  const sessions = useInfiniteQuery(sessionsQuery(undefined));
  const [chosen, setChosen] = useState("");
  const names = sessions.data?.pages.flatMap((page) => page.sessions.map((each) => each.session)) ?? [];
  const session = chosen || (names[0] ?? "");
  const preview = usePreview(session);
  if (!hasScope(principal, "recall")) return null;
  return (
    <Panel title="Preview" note="on recent windows of a session; with a language model it costs a call for each window">
      <div className="space-y-4">
        <form
          className="flex flex-wrap items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (draft) preview.mutate({ content: draft.content, method: draft.method, limit: 2 } as Schemas["PreviewRequest"]);
          }}
        >
          <SelectField label="Session" className="w-56" options={names.map((name) => ({ value: name, label: name }))} value={session} onChange={(event) => setChosen(event.target.value)} />
          <Button type="submit" busy={preview.isPending} disabled={draft === null || session === ""}>
            Preview
          </Button>
        </form>
        {sessions.data && names.length === 0 && <Empty title="There is no session to preview with" />}
        {preview.isError && <ErrorNote error={preview.error} />}
        {preview.data && <PreviewView windows={preview.data.windows} />}
      </div>
    </Panel>
  );
}
