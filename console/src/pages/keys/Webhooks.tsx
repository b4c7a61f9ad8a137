import { useQuery } from "@tanstack/react-query";

import { hasRole, usePrincipal } from "@/api/session";
import { deliveriesQuery, useRedriveDeliveries, useTestDelivery, webhooksQuery, type Webhook } from "@/api/webhooks";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Code } from "@/ui/Code";
import { counted, formatCount } from "@/ui/format";
import { Ago } from "@/ui/Moment";
import { notify } from "@/ui/notices";
import { Panel } from "@/ui/Panel";
import { Empty, ErrorNote, QueryState } from "@/ui/states";

/** Where a tenant's changes are sent, and whether they arrive. */
export function Webhooks({ tenant }: { tenant: string }) {
  const query = useQuery(webhooksQuery(tenant));
  return (
    <Panel title="Webhooks" note="receivers of each change of the tenant’s memories" flush>
      <QueryState
        query={query}
        isEmpty={(data) => data.webhooks.length === 0}
        empty={
          <Empty title="This tenant has no webhook">
            This command adds one: <Code text={`varve webhooks add ${tenant} URL`} />
          </Empty>
        }
      >
        {(data) => (
          <ul aria-label="Webhooks" className="divide-y">
            {data.webhooks.map((webhook) => (
              <Receiver key={webhook.id} tenant={tenant} webhook={webhook} />
            ))}
          </ul>
        )}
      </QueryState>
    </Panel>
  );
}

function Receiver({ tenant, webhook }: { tenant: string; webhook: Webhook }) {
  const mayAct = hasRole(usePrincipal(), "operator");
  const deliveries = useQuery(deliveriesQuery(tenant, webhook.id));
  const redrive = useRedriveDeliveries(tenant);
  const test = useTestDelivery(tenant);
  const { dead = 0, pending = 0 } = deliveries.data ?? {};
  const last = [...(deliveries.data?.dead_letters ?? [])].sort((left, right) => (left.dead_at ?? "").localeCompare(right.dead_at ?? "")).at(-1);
  return (
    <li className="space-y-2 px-4 py-3 text-sm">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-64">
          <p className="font-medium break-all">{webhook.label || webhook.url}</p>
          <p className="text-xs break-all text-muted">
            {webhook.label && `${webhook.url}; `}
            {webhook.kinds.length > 0 ? `only ${webhook.kinds.join(", ")}` : "every kind of memory"}
            {!webhook.content && ", without content"}; added <Ago at={webhook.created} />
          </p>
        </div>
        {deliveries.data && (
          <p className="flex flex-wrap items-center gap-2 pt-0.5">
            {dead > 0 ? <Badge tone="bad">{counted(dead, "dead delivery")}</Badge> : <Badge tone="good">no dead delivery</Badge>}
            {pending > 0 && <Badge tone="warn">{formatCount(pending)} waiting</Badge>}
          </p>
        )}
        {mayAct && (
          <p className="flex gap-2">
            <Button
              size="small"
              busy={test.isPending}
              aria-label={`Test the webhook ${webhook.label || webhook.id}`}
              onClick={() => test.mutate(webhook.id, { onSuccess: (done) => notify(done.delivered ? "The receiver accepted the test delivery." : `The test delivery failed: ${done.problem ?? "unknown"}`) })}
            >
              Test
            </Button>
            {dead > 0 && (
              <Button
                size="small"
                tone="primary"
                busy={redrive.isPending}
                aria-label={`Redrive the dead deliveries of ${webhook.label || webhook.id}`}
                onClick={() => redrive.mutate(webhook.id, { onSuccess: (done) => notify(`Sent again: ${counted(done.redriven, "delivery")}.`) })}
              >
                Redrive
              </Button>
            )}
          </p>
        )}
      </div>
      {last && (
        <p className="text-xs">
          <span className="text-muted">
            Last failure, after {counted(last.attempts, "attempt")}, <Ago at={last.dead_at} />:
          </span>{" "}
          {last.problem}
        </p>
      )}
      {[deliveries.error, redrive.error, test.error].map((error, index) => error && <ErrorNote key={index} error={error} />)}
    </li>
  );
}
