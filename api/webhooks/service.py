"""The background work that delivers to webhooks, in every process of the query service."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from api.webhooks.contents import DeliveredMemories
from api.webhooks.deliverer import Deliverer
from api.webhooks.fan_out import FanOut
from api.webhooks.sender import open_sender
from api.webhooks.signing import SigningSecrets
from control.errors import ControlLogBehindError
from control.tenants import TenantDirectory
from runtime.background import run_together
from runtime.clocks import Clock
from runtime.errors import KafkaUnavailableError, TopicMissingError
from runtime.kafka import Producer
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.settings import Settings

_log = logger(__name__)

_LOOK_S: Final = 1.0
_RETRY_S: Final = 2.0


class Webhooks:
    """Delivers to webhooks. It connects to nothing before a tenant has one.

    Args:
        settings: The settings, with a master secret.
        tenants: The known webhooks.
        producer: Writes deliveries and their outcomes.
        metrics: Receives counts.
        clock: The wall clock.
    """

    def __init__(self, *, settings: Settings, tenants: TenantDirectory, producer: Producer, metrics: Metrics, clock: Clock) -> None:
        self._settings = settings
        self._tenants = tenants
        self._producer = producer
        self._metrics = metrics
        self._clock = clock

    async def run(self) -> None:
        """Delivers until it is cancelled."""
        while not self._are_there_any():  # noqa: ASYNC110 - the control log has no event
            await asyncio.sleep(_LOOK_S)
        contents = DeliveredMemories(settings=self._settings, tenants=self._tenants)
        secrets = SigningSecrets.of(self._settings.signing)
        try:
            async with open_sender(secrets, self._settings.webhooks, clock=self._clock) as sender:
                deliverer = Deliverer(
                    settings=self._settings,
                    tenants=self._tenants,
                    producer=self._producer,
                    sender=sender,
                    contents=contents,
                    metrics=self._metrics,
                    clock=self._clock,
                )
                fan_out = FanOut(settings=self._settings, tenants=self._tenants, producer=self._producer)
                await run_together(partial(_repeated, "fan_out", fan_out.run), partial(_repeated, "deliverer", deliverer.run))
        finally:
            await contents.stop()

    def _are_there_any(self) -> bool:
        try:
            return any(tenant.webhooks for tenant in self._tenants.all())
        except ControlLogBehindError:
            return False


async def _repeated(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Runs work again whenever Kafka has failed."""
    while True:
        try:
            await work()
        except (KafkaUnavailableError, TopicMissingError) as error:
            _log.warning("webhooks_wait_for_kafka", work=name, error=str(error))
            await asyncio.sleep(_RETRY_S)
