"""The thread that Faust's consumer polls in: reads what is committed, tells how far it has read, and which heartbeats were answered."""

from collections.abc import Callable
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import NoOffsetForPartitionError, OffsetOutOfRangeError
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from faust.types import TP

from runtime.clocks import boot_time


class FetchProgress(NamedTuple):
    """How far a partition has been fetched."""

    last_offset: int
    """Of the newest record that was fetched; -1 where there was none yet."""
    position: int
    """Where the next fetch begins: behind what was fetched, and behind the markers and aborted records that no fetch returns."""


class ConsumerThread(AIOKafkaConsumerThread):
    """Faust's polling thread, for logs that are written in transactions (ADR 18)."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.progress: dict[TP, FetchProgress] = {}
        """Replaced whole for each partition, in this thread; read from others."""
        self.out_of_range: set[TP] = set()
        """Whose next fetch begins where the log has no record, neither now nor later: read from other threads, and cleared there."""
        self.on_heartbeat: Callable[[float], None] = lambda at: None
        """Told when a heartbeat was sent that the group's coordinator has answered."""

    async def on_start(self) -> None:
        """Connects, and watches the heartbeats."""
        await super().on_start()
        coordinator: Any = self._ensure_consumer()._coordinator  # noqa: SLF001 - aiokafka tells nobody which heartbeats are answered
        heartbeat = coordinator._do_heartbeat  # noqa: SLF001

        async def watched() -> Any:
            sent_at = boot_time()
            answered = await heartbeat()
            if answered:
                self.on_heartbeat(sent_at)
            return answered

        coordinator._do_heartbeat = watched  # noqa: SLF001

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Nothing: Faust would complain of partitions that it does not commit, and whose offsets a transaction commits instead."""

    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:
        consumer = super()._create_worker_consumer(transport)
        # Faust ties the isolation level to its own transactions, which are not used; aiokafka hands it to the fetcher when it starts.
        consumer._isolation_level = "read_committed"  # noqa: SLF001
        return consumer

    async def _fetch_records(self, consumer: AIOKafkaConsumer, active_partitions: set[TP], *args: Any, **options: Any) -> Any:
        try:
            records = await super()._fetch_records(consumer, active_partitions, *args, **options)
        except OffsetOutOfRangeError as error:
            self.out_of_range.update(TP(each.topic, each.partition) for each in error.args[0])
            return {}
        except NoOffsetForPartitionError:
            # A new group, whose consumer has still to seek to the log's beginning.
            return {}
        subscription: Any = consumer._subscription.subscription  # noqa: SLF001 - the public position waits for one, and this must not
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
