import type { Schemas } from "@/api/client";
import { Badge } from "@/ui/Badge";
import { inWords, listed } from "@/ui/format";
import { Empty } from "@/ui/states";
import { Value } from "@/ui/Value";

import { MemoryLink } from "../memories/MemoryLink";

type Entity = Schemas["EntityView"];

export function StateTable({ entity }: { entity: Entity }) {
  const properties = Object.entries(entity.properties);
  return (
    <div className="space-y-3">
      {entity.degraded.length > 0 && (
        <p className="flex gap-2 text-sm">
          <Badge tone="warn">incomplete</Badge> unavailable: {entity.degraded.map(inWords).join(", ")}
        </p>
      )}
      {properties.length === 0 ? (
        <Empty title="No property was set" />
      ) : (
        <dl className="divide-y border-y">
          {properties.map(([name, value]) => (
            <div key={name} className="grid gap-x-4 gap-y-0.5 py-2 text-sm sm:grid-cols-[10rem_1fr_auto]">
              <dt className="text-muted">{inWords(name)}</dt>
              <dd>
                <Value value={value} />
              </dd>
              <dd className="text-xs whitespace-pre-line text-muted">{entity.since?.[name] && `since ${[...new Set(entity.since[name])].join(", ")}`}</dd>
            </div>
          ))}
        </dl>
      )}
      <p className="text-xs text-muted">
        Based on messages {listed(entity.evidence) || "unknown"}.{" "}
        <MemoryLink id={entity.id} className="text-accent underline">
          Open the memory
        </MemoryLink>
      </p>
    </div>
  );
}
