"""Records on a broker, and the dead letters of some of them."""

from datetime import UTC, datetime
from typing import Final

from memory.positions import LogPosition
from runtime.dead_letters import DeadLetterBox
from runtime.kafka import Producer
from runtime.settings import Settings
from runtime.tracing import Headers
from streams.engine.failures.dead_letters import SMALLEST_LIMIT as LIMIT
from streams.engine.failures.dead_letters import dead_letter
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Rejection

NOON: Final = datetime(2024, 5, 6, 12, tzinfo=UTC)


class LetterFlow:
    """Produces records, and the dead letters of some of them.

    Args:
        settings: Name topics that are there.
        producer: Produces both.
        box: Lists and redrives the dead letters, as operators do.
    """

    def __init__(self, settings: Settings, producer: Producer, box: DeadLetterBox) -> None:
        self.settings = settings
        self.box = box
        self._producer = producer

    async def record(self, topic: str, key: bytes, value: bytes | None) -> LogPosition:
        return await self._producer.send(self.settings.topic(topic), key=key, value=value)

    async def refused(
        self,
        topic: str,
        stage: str,
        key: bytes,
        value: bytes | None,
        position: LogPosition,
        *,
        reason: str = "malformed",
        headers: Headers = (("app", b"1"),),
    ) -> LogPosition:
        source = ConsumedRecord(self.settings.topic(topic), position.partition, position.offset, key, value, headers, 0.0)
        (letter,) = dead_letter(
            self.settings.topic("dead-letters"),
            Rejection(source, reason, "because", "{"),
            limit=LIMIT,
            stage=stage,
            attempts=2,
            first_attempt_at=NOON,
            last_attempt_at=NOON,
        )
        return await self._producer.send(letter.topic, key=key, value=letter.value, headers=letter.headers)
