import { queryOptions, useMutation } from "@tanstack/react-query";

import { useChange } from "./change";
import { api, unwrap, type Schemas } from "./client";

export type Webhook = Schemas["WebhookView"];

/** A tenant's webhooks, for an operator. */
export function webhooksQuery(tenant: string) {
  return queryOptions({ queryKey: ["webhooks", tenant, "list"], queryFn: () => unwrap(api.GET("/v1/admin/webhooks", { params: { query: { tenant } } })) });
}

/** The waiting and dead deliveries of a webhook. */
export function deliveriesQuery(tenant: string, id: string) {
  return queryOptions({
    queryKey: ["webhooks", tenant, "deliveries", id],
    queryFn: () => unwrap(api.GET("/v1/admin/webhooks/{webhook_id}/dead-letters", { params: { path: { webhook_id: id }, query: { tenant } } })),
  });
}

/** Sends the dead deliveries of a webhook again. */
export function useRedriveDeliveries(tenant: string) {
  return useChange((id: string) => unwrap(api.POST("/v1/admin/webhooks/{webhook_id}/redrive", { params: { path: { webhook_id: id } }, body: { tenant } })), "webhooks");
}

/** Sends one test delivery. */
export function useTestDelivery(tenant: string) {
  return useMutation({
    mutationFn: (id: string) => unwrap(api.POST("/v1/admin/webhooks/{webhook_id}/test", { params: { path: { webhook_id: id } }, body: { tenant } })),
  });
}
