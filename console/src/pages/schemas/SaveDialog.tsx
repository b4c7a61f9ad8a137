import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { ApiError } from "@/api/errors";
import { schemaQuery, useCreateSchema } from "@/api/schemas";
import { usePrincipal } from "@/api/session";
import { useTenant } from "@/shell/tenant";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { notify } from "@/ui/notices";

import { changedParts, type ChangedPart } from "./changed";
import { nameOf, revisionOf } from "./revisions";

interface Props {
  content: unknown;
  /** The newest revision of the schema's name that the editor knows; 0: none. */
  seen: number;
  onSeen: (revision: number) => void;
  onStored: () => void;
  onClose: () => void;
}

interface Newer {
  schema: string;
  changes: ChangedPart[];
}

export function SaveDialog({ content, seen, onSeen, onStored, onClose }: Props) {
  const tenant = useTenant() ?? null;
  const client = useQueryClient();
  const principal = usePrincipal();
  const create = useCreateSchema();
  const navigate = useNavigate();
  const [newer, setNewer] = useState<Newer | null>(null);
  const meet = async () => {
    const name = nameOf(content);
    const found = await client.fetchQuery({ ...schemaQuery(principal, name), staleTime: 0 });
    const before = seen === 0 ? undefined : await client.fetchQuery(schemaQuery(principal, `${name}@${seen}`));
    setNewer({ schema: found.schema, changes: before === undefined ? [] : changedParts(before.content, found.content) });
    onSeen(revisionOf(found.schema));
  };
  const store = () =>
    create.mutate(
      { content, tenant, seen },
      {
        onSuccess: (written) => {
          notify(written.changed ? `Stored as ${written.schema}.` : `${written.schema} has this content already.`);
          onClose();
          onStored();
          void navigate({ to: "/schemas", search: { schema: written.schema } });
        },
        onError: (error) => {
          if (isConflict(error)) void meet().catch(() => undefined);
        },
      },
    );
  const error = newer !== null && create.error !== null && isConflict(create.error) ? null : create.error;
  return (
    <ConfirmDialog
      title="Store the schema"
      action={newer ? `Store after ${newer.schema}` : "Store"}
      change={{ isPending: create.isPending, error }}
      onClose={onClose}
      onConfirm={store}
    >
      <p>{tenant ? `Only the tenant ${tenant} may use it.` : "Every tenant may use it."} Nothing changes for a tenant until a generation of it uses the new revision.</p>
      {newer && <Conflict newer={newer} />}
    </ConfirmDialog>
  );
}

const isConflict = (error: Error) => error instanceof ApiError && error.status === 412;

const MOST_SHOWN = 20;

/** Says what somebody else has stored since the editor was opened. */
function Conflict({ newer: { schema, changes } }: { newer: Newer }) {
  return (
    <div role="alert" className="space-y-2 rounded-md bg-warn-soft px-3 py-2 text-sm">
      <p>Nothing is stored yet: {schema} was stored after you opened the editor.</p>
      {changes.length > 0 && (
        <ul aria-label="Parts that were changed" className="list-disc space-y-1 pl-5">
          {changes.slice(0, MOST_SHOWN).map(({ path, before, after }) => (
            <li key={path} className="break-words">
              {path}: <code>{shortened(before)}</code> → <code>{shortened(after)}</code>
            </li>
          ))}
          {changes.length > MOST_SHOWN && <li>and {changes.length - MOST_SHOWN} more</li>}
        </ul>
      )}
      <p className="text-xs text-muted">Your text is kept. To keep these changes too, cancel, enter them, and store again. Your revision follows {schema} as it is.</p>
    </div>
  );
}

const LONGEST = 120;

const shortened = (json: string | null) => (json === null ? "nothing" : json.length > LONGEST ? `${json.slice(0, LONGEST)}…` : json);
