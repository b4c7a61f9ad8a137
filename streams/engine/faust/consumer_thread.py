"""Polling thread of Faust's consumer: reads committed records only, and reports fetch progress and acknowledged heartbeats."""

from collections.abc import Callable
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import NoOffsetForPartitionError, OffsetOutOfRangeError
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from faust.types import TP

from runtime.clocks import boot_time
from runtime.kafka.client import look_seldom


class FetchProgress(NamedTuple):
    """Fetch progress of a partition."""

    last_offset: int
    """Offset of the newest fetched record; -1: none yet."""
    position: int
    """Start of the next fetch: after the fetched records, and after markers and aborted records, which no fetch returns."""


class ConsumerThread(AIOKafkaConsumerThread):
    """Faust's polling thread, for logs written in transactions (ADR 18)."""

    mundane_level = "debug"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.progress: dict[TP, FetchProgress] = {}
        """Progress per partition. This thread replaces an entry as a whole; other threads read it."""
        self.out_of_range: set[TP] = set()
        """Partitions whose next fetch position is outside the log. Other threads read and clear it."""
        self.on_heartbeat: Callable[[float], None] = lambda at: None
        """Called with the send time of each heartbeat that the group's coordinator has acknowledged."""

    async def on_start(self) -> None:
        """Connects, and watches the heartbeats."""
        await super().on_start()
        consumer = self._ensure_consumer()
        look_seldom(consumer)
        coordinator: Any = consumer._coordinator  # noqa: SLF001 - aiokafka has no API for acknowledged heartbeats
        heartbeat = coordinator._do_heartbeat  # noqa: SLF001

        async def report_heartbeat() -> Any:
            sent_at = boot_time()
            answered = await heartbeat()
            if answered:
                self.on_heartbeat(sent_at)
            return answered

        coordinator._do_heartbeat = report_heartbeat  # noqa: SLF001

    @property
    def member_id(self) -> str:
        """The id that the consumer group has given this worker; empty before it has joined."""
        coordinator: Any = self._ensure_consumer()._coordinator  # noqa: SLF001 - aiokafka has no API for the member's id
        return str(coordinator.member_id)

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Does nothing: Faust would complain about partitions that it does not commit; transactions commit their offsets."""

    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:
        consumer = super()._create_worker_consumer(transport)
        # Faust couples the isolation level to its own transactions, which are not used; aiokafka passes it to the fetcher on start.
        consumer._isolation_level = "read_committed"  # noqa: SLF001
        return consumer

    async def _fetch_records(self, consumer: AIOKafkaConsumer, active_partitions: set[TP], *args: Any, **options: Any) -> Any:
        try:
            records = await super()._fetch_records(consumer, active_partitions, *args, **options)
        except OffsetOutOfRangeError as error:
            self.out_of_range.update(TP(each.topic, each.partition) for each in error.args[0])
            return {}
        except NoOffsetForPartitionError:
            # The consumer of a new group has not yet sought to the log's beginning.
            return {}
        subscription: Any = consumer._subscription.subscription  # noqa: SLF001 - the public position waits for one; this must not wait
        assignment = None if subscription is None else subscription.assignment
        if assignment is not None:
            for partition in active_partitions:
                state = assignment.state_value(partition)
                if state is not None and state.has_valid_position:
                    self._note(TP(partition.topic, partition.partition), records.get(partition), state.position)
        return records

    def _note(self, partition: TP, fetched: Any, position: int) -> None:
        before = self.progress.get(partition)
        newest = fetched[-1].offset if fetched else -1 if before is None else before.last_offset
        self.progress[partition] = FetchProgress(newest, position)
