"""An attempt to deliver, on a control log that the test changes while the memory is read."""

from collections.abc import Callable
from functools import partial

import pytest

from api.webhooks.attempts import DELIVERED, DROPPED, DeliveryAttempts
from api.webhooks.contents import DeliveredMemories
from api.webhooks.sender import open_sender
from api.webhooks.signing import SigningSecrets
from control.tenants import TenantDirectory
from control.webhook_changes import remove_webhook
from memory.records import Memory, WebhookDelivery
from runtime.settings import Settings, SigningSettings, WebhookSettings
from tests.api.running_service import memory
from tests.api.webhooks.deliveries import WEBHOOK, delivery, tenants_with_webhook
from tests.api.webhooks.receiver import receiving
from tests.control_log import now_known


class ReadMemories(DeliveredMemories):
    """Reads one memory, and calls a function while it reads."""

    def __init__(self, settings: Settings, tenants: TenantDirectory, meanwhile: Callable[[], object]) -> None:
        super().__init__(settings=settings, tenants=tenants)
        self._meanwhile = meanwhile

    async def read(self, delivery: WebhookDelivery) -> Memory | None:
        self._meanwhile()
        return memory(delivery.tenant, "ann", "I moved to Bergen.")


@pytest.mark.parametrize(("removed", "outcome", "requests"), [(False, DELIVERED, 1), (True, DROPPED, 0)])
async def test_a_webhook_removed_meanwhile_receives_nothing(removed: bool, outcome: str, requests: int) -> None:
    settings = Settings(webhooks=WebhookSettings(allow_private=True), signing=SigningSettings(secret="a master secret of the tests only"))
    async with receiving() as receiver, open_sender(SigningSecrets.of(settings.signing), settings.webhooks) as sender:
        tenants = tenants_with_webhook(receiver.url)
        removal = partial(remove_webhook, tenant_id="acme", webhook_id=WEBHOOK)
        contents = ReadMemories(settings, tenants, lambda: removed and now_known(tenants, removal))
        attempts = DeliveryAttempts(tenants=tenants, contents=contents, sender=sender, max_bytes=settings.webhooks.max_payload_bytes)
        assert await attempts.attempt(delivery()) == outcome
    assert len(receiver.requests) == requests
