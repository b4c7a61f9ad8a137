"""Checks of Kafka for the readiness of the service, over one connection that stays open."""

import asyncio
from contextlib import suppress
from typing import Self

from aiokafka.admin import AIOKafkaAdminClient

from memory.errors import VarveError
from runtime.clock_check import require_agreeing_clocks
from runtime.errors import KafkaUnavailableError
from runtime.kafka import KafkaOffsets, check_topics
from runtime.settings import Settings


class KafkaProbes:
    """The checks. Use it as an async context manager; it connects at the first check, and again after a failed one.

    Args:
        settings: The settings in force.
        clock_limits_s: How many seconds this machine's clock may be fast, and how many slow, compared with Kafka's.
    """

    def __init__(self, *, settings: Settings, clock_limits_s: tuple[float, float]) -> None:
        self._settings = settings
        self._clock_limits_s = clock_limits_s
        self._offsets: KafkaOffsets | None = None
        self._turn = asyncio.Lock()
        """Held during a check: to disconnect would cancel another one."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._disconnect()

    async def topics(self) -> None:
        """Returns if the topics are there; raises as :func:`runtime.kafka.check_topics` does."""
        async with self._turn:
            try:
                await check_topics(self._settings, admin=await self._admin())
            except (VarveError, asyncio.CancelledError):
                # Also when the check took too long: the next one connects again.
                await self._disconnect()
                raise

    async def clock(self) -> None:
        """Returns if the clocks agree, or cannot be compared: the service refuses requests while they differ.

        Raises:
            ClockError: If they differ; says which one to correct.
        """
        async with self._turn:
            # `topics` reports that Kafka does not answer.
            with suppress(KafkaUnavailableError):
                await require_agreeing_clocks(await self._admin(), self._settings, self._clock_limits_s)

    async def _admin(self) -> AIOKafkaAdminClient:
        if self._offsets is None:
            offsets = KafkaOffsets(kafka=self._settings.kafka)
            await offsets.start()
            self._offsets = offsets
        return self._offsets.admin

    async def _disconnect(self) -> None:
        offsets, self._offsets = self._offsets, None
        if offsets is not None:
            await offsets.stop()
