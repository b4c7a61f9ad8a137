"""Changes to webhooks. Pure: each function reads and writes a draft."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from control.documents import Tenant
from control.draft import Draft, changed, new
from control.errors import ChangeRefusedError
from control.webhooks import MOST_SECRETS, MOST_WEBHOOKS, Webhook, WebhookSecret


def add_webhook(
    draft: Draft,
    tenant_id: str,
    webhook_id: str,
    secret_id: str,
    *,
    url: str,
    now: datetime,
    label: str = "",
    kinds: Sequence[str] = (),
    with_content: bool = True,
) -> Webhook:
    """Adds a webhook to a tenant.

    Args:
        draft: The change.
        tenant_id: The tenant.
        webhook_id: A new id.
        secret_id: The id of its first secret.
        url: Where changes are sent. The caller has checked it.
        now: The current time (aware).
        label: A label for people.
        kinds: Kinds of memories. Default: all.
        with_content: Whether deliveries contain the memory.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If a value is invalid, or the tenant has too many webhooks.
    """
    tenant = draft.tenant(tenant_id)
    if len(tenant.webhooks) >= MOST_WEBHOOKS:
        raise ChangeRefusedError(f"tenant {tenant_id!r} has {MOST_WEBHOOKS} webhooks, which is the maximum; remove one first")
    webhook = new(
        Webhook,
        id=webhook_id,
        url=url,
        label=label,
        kinds=tuple(dict.fromkeys(kinds)),
        with_content=with_content,
        created=now,
        secrets=(WebhookSecret(id=secret_id),),
    )
    draft.put(changed(tenant, webhooks=(*tenant.webhooks, webhook)))
    return webhook


def remove_webhook(draft: Draft, tenant_id: str, webhook_id: str) -> None:
    """Removes a webhook. Its waiting deliveries and dead letters are dropped.

    Args:
        draft: The change.
        tenant_id: The tenant.
        webhook_id: The webhook.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the tenant has no such webhook.
    """
    tenant = draft.tenant(tenant_id)
    webhook_of(tenant, webhook_id)
    draft.put(changed(tenant, webhooks=tuple(each for each in tenant.webhooks if each.id != webhook_id)))


def rotate_webhook_secret(draft: Draft, tenant_id: str, webhook_id: str, secret_id: str, *, now: datetime, overlap: timedelta) -> Webhook:
    """Gives a webhook a new secret. Deliveries are signed with the old one as well, until the overlap ends.

    Args:
        draft: The change.
        tenant_id: The tenant.
        webhook_id: The webhook.
        secret_id: The id of the new secret.
        now: The current time (aware).
        overlap: How long deliveries are signed with both.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the tenant has no such webhook, or it has too many secrets that are still valid.
    """
    tenant = draft.tenant(tenant_id)
    webhook = webhook_of(tenant, webhook_id)
    ends = now + overlap
    former = (
        each.model_copy(update={"until": ends if each.until is None else min(each.until, ends)}) for each in webhook.valid_secrets(now)
    )
    secrets = (*(each for each in former if each.is_valid(now)), WebhookSecret(id=secret_id))
    if len(secrets) > MOST_SECRETS:
        raise ChangeRefusedError(f"webhook {webhook_id} has {MOST_SECRETS} valid secrets, which is the maximum; wait until one has expired")
    rotated = changed(webhook, secrets=secrets)
    draft.put(changed(tenant, webhooks=tuple(rotated if each.id == webhook_id else each for each in tenant.webhooks)))
    return rotated


def webhook_of(tenant: Tenant, webhook_id: str) -> Webhook:
    """A tenant's webhook.

    Raises:
        ChangeRefusedError: If the tenant has no such webhook.
    """
    found = next((each for each in tenant.webhooks if each.id == webhook_id), None)
    if found is None:
        known = ", ".join(each.id for each in tenant.webhooks) or "none"
        raise ChangeRefusedError(f"tenant {tenant.id!r} has no webhook {webhook_id!r}; it has: {known}")
    return found
