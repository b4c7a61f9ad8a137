"""One attempt to deliver: reads the memory, and sends it to the webhook as it is configured at that moment."""

from typing import Final

from api.webhooks.contents import DeliveredMemories
from api.webhooks.lane import Failure
from api.webhooks.payload import body_of
from api.webhooks.sender import WebhookSender
from control.errors import ControlLogBehindError, UnknownTenantError
from control.tenants import TenantDirectory
from control.webhooks import Webhook
from memory.records import WebhookDelivery
from runtime.errors import KafkaUnavailableError
from runtime.logs import logger

_log = logger(__name__)

DELIVERED: Final = "delivered"
"""The receiver accepted the delivery."""
SUPERSEDED: Final = "superseded"
"""The memory has changed again or was deleted; nothing was sent."""
DROPPED: Final = "dropped"
"""The webhook was removed; nothing was sent."""


class DeliveryAttempts:
    """Attempts deliveries.

    Args:
        tenants: The known webhooks.
        contents: Reads the memories.
        sender: Sends.
        max_bytes: Longest body.
    """

    def __init__(self, *, tenants: TenantDirectory, contents: DeliveredMemories, sender: WebhookSender, max_bytes: int) -> None:
        self._tenants = tenants
        self._contents = contents
        self._sender = sender
        self._max_bytes = max_bytes

    def webhook(self, tenant: str, webhook_id: str) -> Webhook | None:
        """The webhook's current configuration; None if it was removed.

        Raises:
            ControlLogBehindError: If this process does not know the newest configuration.
        """
        try:
            return next((webhook for webhook in self._tenants.get(tenant).webhooks if webhook.id == webhook_id), None)
        except UnknownTenantError:
            return None

    async def attempt(self, delivery: WebhookDelivery) -> Failure | str:
        """Sends a delivery once. Returns the failure, or one of :data:`DELIVERED`, :data:`SUPERSEDED` and :data:`DROPPED`."""
        memory = None
        try:
            if delivery.event == "memory.upserted":
                memory = await self._contents.read(delivery)
                if memory is None:
                    return SUPERSEDED
            # While the memory was read, the webhook may have been removed or got another secret.
            webhook = self.webhook(delivery.tenant, delivery.webhook)
        except (KafkaUnavailableError, ControlLogBehindError) as error:
            return Failure(str(error), counts=False)
        if webhook is None:
            return DROPPED
        try:
            body = body_of(delivery, memory, with_content=webhook.with_content, max_bytes=self._max_bytes)
            return await self._sender.send(delivery.tenant, webhook, message_id=delivery.id, body=body) or DELIVERED
        except Exception as error:
            # A defect with one delivery must not occupy its lane forever.
            _log.exception("webhook_attempt_failed_unexpectedly", webhook=webhook.id, delivery=delivery.id, error=str(error))
            return Failure("internal error")
