import { useNavigate } from "@tanstack/react-router";

import { useCreateSchema } from "@/api/schemas";
import { useTenant } from "@/shell/tenant";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { notify } from "@/ui/notices";

export function SaveDialog({ content, onStored, onClose }: { content: unknown; onStored: () => void; onClose: () => void }) {
  const tenant = useTenant() ?? null;
  const create = useCreateSchema();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title="Store the schema"
      action="Store"
      change={create}
      onClose={onClose}
      onConfirm={() =>
        create.mutate(
          { content, tenant },
          {
            onSuccess: (written) => {
              notify(written.changed ? `Stored as ${written.schema}.` : `${written.schema} has this content already.`);
              onClose();
              onStored();
              void navigate({ to: "/schemas", search: { schema: written.schema } });
            },
          },
        )
      }
    >
      <p>{tenant ? `Only the tenant ${tenant} may use it.` : "Every tenant may use it."} Nothing changes for a tenant until a generation of it uses the new revision.</p>
    </ConfirmDialog>
  );
}
