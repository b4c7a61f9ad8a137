import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { keysQuery, useRevokeKey, useRotateKey, type ApiKey } from "@/api/keys";
import { hasRole, usePrincipal } from "@/api/session";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { notify } from "@/ui/notices";
import { Panel } from "@/ui/Panel";
import { Empty, QueryState } from "@/ui/states";
import { Table } from "@/ui/Table";

import { keyColumns } from "./keyColumns";
import { NewKeyDialog } from "./NewKeyDialog";
import { SecretDialog } from "./SecretDialog";
import { showSecret } from "./showSecret";

export function TenantKeys({ tenant }: { tenant: string }) {
  const mayChange = hasRole(usePrincipal(), "admin");
  const query = useQuery(keysQuery(tenant));
  const [isAdding, setIsAdding] = useState(false);
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const [secret, setSecret] = useState<string | null>(null);

  const columns = keyColumns();
  if (mayChange) {
    columns.push({
      key: "actions",
      title: "Actions",
      cell: (key) => (
        <span className="flex gap-2">
          <Button size="small" onClick={() => setRotating(key)} aria-label={`Rotate the key ${key.label || key.id}`}>
            Rotate
          </Button>
          <Button size="small" onClick={() => setRevoking(key)} aria-label={`Revoke the key ${key.label || key.id}`}>
            Revoke
          </Button>
        </span>
      ),
    });
  }

  return (
    <Panel title="API keys" note="only their hashes are stored" actions={mayChange && <Button size="small" tone="primary" onClick={() => setIsAdding(true)}>New key</Button>} flush>
      <QueryState query={query} isEmpty={(data) => data.keys.length === 0} empty={<Empty title="This tenant has no key" />}>
        {(data) => <Table caption="API keys" columns={columns} rows={data.keys} rowKey={(key) => key.id} />}
      </QueryState>
      {isAdding && (
        <NewKeyDialog
          tenant={tenant}
          onClose={() => setIsAdding(false)}
          onMade={(key) => {
            setIsAdding(false);
            setSecret(key);
          }}
        />
      )}
      {rotating && (
        <Rotate
          tenant={tenant}
          apiKey={rotating}
          onClose={() => setRotating(null)}
          onMade={(key) => {
            setRotating(null);
            setSecret(key);
          }}
        />
      )}
      {revoking && <Revoke tenant={tenant} apiKey={revoking} onClose={() => setRevoking(null)} />}
      {secret !== null && <SecretDialog secret={secret} onClose={() => setSecret(null)} />}
    </Panel>
  );
}

const HOUR_S = 3600;

function Rotate({ tenant, apiKey, onClose, onMade }: { tenant: string; apiKey: ApiKey; onClose: () => void; onMade: (key: string) => void }) {
  const rotate = useRotateKey(tenant);
  return (
    <ConfirmDialog
      title={`Rotate the key ${apiKey.label || apiKey.id}`}
      action="Rotate"
      change={rotate}
      onClose={onClose}
      onConfirm={() => showSecret(rotate.mutateAsync({ id: apiKey.id, overlapS: HOUR_S }), onMade)}
    >
      <p>You get a new key with the same scopes. The old key works for one more hour.</p>
    </ConfirmDialog>
  );
}

function Revoke({ tenant, apiKey, onClose }: { tenant: string; apiKey: ApiKey; onClose: () => void }) {
  const revoke = useRevokeKey(tenant);
  return (
    <ConfirmDialog
      title={`Revoke the key ${apiKey.label || apiKey.id}`}
      action="Revoke"
      typed="revoke"
      change={revoke}
      onClose={onClose}
      onConfirm={() =>
        revoke.mutate(apiKey.id, {
          onSuccess: () => {
            notify("The key is revoked.");
            onClose();
          },
        })
      }
    >
      <p>
        <strong>This cannot be undone.</strong> Every request with this key is refused from now on.
      </p>
    </ConfirmDialog>
  );
}
