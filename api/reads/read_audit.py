"""Records a sample of the reads of memories in the topic ``reads``, in the background: who read whose memories, and when; no texts."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from api.auth.caller import Caller
from api.reads.background_records import BackgroundRecords
from memory.keys import distinct_key
from memory.records import Memory, ReadRecord
from memory.records.read import ReadKind
from memory.topics import READS, topic_name
from runtime.clocks import Clock
from runtime.kafka import OutgoingRecord, Producer
from runtime.logs import logger
from runtime.metrics import Metrics

_log = logger(__name__)

MOST_IDS: Final = 1000
"""Limit of the memory ids of one record."""


class ReadAudit:
    """Writes the records of sampled reads. No request waits for them.

    Memories that belong to no single user are left out.

    Args:
        producer: Writes the records.
        topic_prefix: Prefix of the topic.
        rate: Share of the requests that are recorded, from 0 to 1.
        max_pending: Most pending records. Further ones are dropped and counted.
        metrics: Counts the records.
        clock: The time of the records.
        draw: A random number in [0, 1). Default: the machine's.
    """

    def __init__(
        self,
        *,
        producer: Producer,
        topic_prefix: str,
        rate: float,
        max_pending: int,
        metrics: Metrics,
        clock: Clock,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._topic = topic_name(READS, topic_prefix)
        self._rate = rate
        self._clock = clock
        self._draw = draw
        self._records = BackgroundRecords(
            producer=producer,
            max_pending=max_pending,
            outcomes=metrics.read_records,
            on_failure=lambda error: _log.warning("read_record_not_produced", error=str(error)),
        )

    def note(self, caller: Caller, what: ReadKind, memories: Iterable[Memory | None]) -> None:
        """Records the memories that a request returns, if the request is sampled. Returns at once.

        Args:
            caller: The caller of the request.
            what: The kind of the request.
            memories: The returned memories.
        """
        if self._draws():
            self._note(caller, what, ((each.user, each.id) for each in memories if each is not None))

    def note_entity(self, caller: Caller, what: ReadKind, user: str | None, entity: str) -> None:
        """The same for one entity, of which only the id is known.

        Args:
            caller: The caller of the request.
            what: The kind of the request.
            user: The user of the entity. None: it belongs to no single user, and nothing is recorded.
            entity: The id of the entity.
        """
        if self._draws():
            self._note(caller, what, [(user, entity)])

    async def close(self) -> None:
        """Waits for the pending records. The time-out of the producer bounds the wait."""
        await self._records.close()

    def _draws(self) -> bool:
        return self._rate > 0 and self._draw() < self._rate

    def _note(self, caller: Caller, what: ReadKind, read: Iterable[tuple[str | None, str]]) -> None:
        of_users: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for user, memory_id in read:
            if user is not None:
                of_users[user][memory_id] = None
        now = self._clock.now()
        for user, found in of_users.items():
            ids = [*found]
            record = ReadRecord(
                tenant=caller.tenant.id,
                user=user,
                key_id=caller.key.id,
                what=what,
                memory_ids=ids[:MOST_IDS],
                left_out=max(0, len(ids) - MOST_IDS),
                time=now,
            )
            self._records.add(OutgoingRecord(self._topic, distinct_key(record.tenant, user), record.to_json()))
