"""A tenant with one webhook, and deliveries to it."""

from datetime import UTC, datetime

from control.draft import Draft
from control.tenants import TenantDirectory
from control.webhook_changes import add_webhook
from memory.records import WebhookDelivery
from tests.control_log import known_tenants, now_known

WEBHOOK = "wh_0000"


def tenants_with_webhook(url: str) -> TenantDirectory:
    tenants = known_tenants({"acme": "companion"})

    def change(draft: Draft) -> None:
        add_webhook(draft, "acme", WEBHOOK, "secret", url=url, now=datetime.now(UTC))

    now_known(tenants, change)
    return tenants


def delivery(number: int = 0, **fields: object) -> WebhookDelivery:
    return WebhookDelivery.model_validate(
        {
            "id": f"msg_{number}",
            "tenant": "acme",
            "webhook": WEBHOOK,
            "event": "memory.upserted",
            "memory_id": f"m{number}",
            "partition": 0,
            "offset": number,
            "changed_at": datetime.now(UTC),
            **fields,
        }
    )
