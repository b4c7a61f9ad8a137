import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { generationsQuery, useDrop, useSwitch, type Generation } from "@/api/generations";
import { hasRole, usePrincipal } from "@/api/session";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { notify } from "@/ui/notices";
import { Panel } from "@/ui/Panel";
import { QueryState } from "@/ui/states";
import { Table, type Column } from "@/ui/Table";

import { NewGenerationDialog } from "./NewGenerationDialog";

const shown = (generation: Generation) => generation.name || "first";

/** The generations of a tenant: each has all memories, as one schema and method make them. */
export function Generations({ tenant }: { tenant: string }) {
  const mayChange = hasRole(usePrincipal(), "admin");
  const query = useQuery(generationsQuery(tenant));
  const [isAdding, setIsAdding] = useState(false);
  const [switching, setSwitching] = useState<Generation | null>(null);
  const [dropping, setDropping] = useState<Generation | null>(null);

  const columns: Column<Generation>[] = [
    { key: "name", title: "Generation", cell: (generation) => <span className="font-medium">{shown(generation)}</span> },
    { key: "live", title: "State", cell: (generation) => (generation.live ? <Badge tone="good">live</Badge> : <Badge>not live</Badge>) },
    { key: "schema", title: "Schema", cell: (generation) => <code className="font-mono text-xs">{generation.schema}</code> },
    { key: "method", title: "Method", cell: (generation) => generation.method },
  ];
  if (mayChange) {
    columns.push({
      key: "actions",
      title: "Actions",
      cell: (generation) =>
        !generation.live && (
          <span className="flex gap-2">
            <Button size="small" onClick={() => setSwitching(generation)} aria-label={`Make the generation ${shown(generation)} live`}>
              Make live
            </Button>
            <Button size="small" onClick={() => setDropping(generation)} aria-label={`Drop the generation ${shown(generation)}`}>
              Drop
            </Button>
          </span>
        ),
    });
  }
  return (
    <Panel
      title={`Generations of ${tenant}`}
      note="a recall reads the live one"
      actions={
        mayChange && (
          <Button size="small" tone="primary" onClick={() => setIsAdding(true)}>
            New generation
          </Button>
        )
      }
      flush
    >
      <QueryState query={query}>{(data) => <Table caption="Generations" columns={columns} rows={data} rowKey={(generation) => generation.name} />}</QueryState>
      {isAdding && <NewGenerationDialog tenant={tenant} onClose={() => setIsAdding(false)} />}
      {switching && <Switch tenant={tenant} generation={switching} onClose={() => setSwitching(null)} />}
      {dropping && <Drop tenant={tenant} generation={dropping} onClose={() => setDropping(null)} />}
    </Panel>
  );
}

interface ChangeProps {
  tenant: string;
  generation: Generation;
  onClose: () => void;
}

function Switch({ tenant, generation, onClose }: ChangeProps) {
  const change = useSwitch(tenant);
  return (
    <ConfirmDialog
      title={`Make ${shown(generation)} the live generation`}
      action="Make live"
      change={change}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(generation.name, {
          onSuccess: () => {
            notify(`Recalls read the generation ${shown(generation)} now.`);
            onClose();
          },
        })
      }
    >
      <p>Recalls and new extractions use it. The generation that is live now is kept, so that you can go back.</p>
      <p>The service refuses the change while the generation lacks windows of the live one.</p>
    </ConfirmDialog>
  );
}

function Drop({ tenant, generation, onClose }: ChangeProps) {
  const change = useDrop(tenant);
  return (
    <ConfirmDialog
      title={`Drop the generation ${shown(generation)}`}
      action="Drop"
      typed="drop"
      change={change}
      onClose={onClose}
      onConfirm={() =>
        change.mutate(generation.name, {
          onSuccess: () => {
            notify(`The generation ${shown(generation)} is dropped. The stages remove its memories now.`);
            onClose();
          },
        })
      }
    >
      <p>
        <strong>This cannot be undone.</strong> Its memories are removed. The messages stay, and a replay can write it again.
      </p>
    </ConfirmDialog>
  );
}
