"""The connection of an aiokafka producer: opened when it is first needed, replaced after a failed batch, closed within a time limit."""

import asyncio
import contextlib
import inspect
from typing import Any, Final, cast

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, ProducerClosed

from runtime.errors import KafkaUnavailableError
from runtime.kafka.client import connect, kafka_faults, producer_options
from runtime.logs import logger
from runtime.settings import KafkaSettings

_log = logger(__name__)

_CANCEL_AGAIN_S: Final = 0.1


class ProducerConnection:
    """Owns one producer at a time, with ``acks=all`` and idempotence. A new one is opened only after the previous one has ended.

    Args:
        close_timeout_s: Time limit for sending pending records, and again for closing the connections.
        options: Further options of ``AIOKafkaProducer``.
    """

    def __init__(self, *, kafka: KafkaSettings, close_timeout_s: float, **options: Any) -> None:
        self._kafka = kafka
        self._close_timeout_s = close_timeout_s
        self._options = options
        self._producer: AIOKafkaProducer | None = None
        self._replacing = asyncio.Lock()
        self._is_closed = False

    async def producer(self) -> AIOKafkaProducer:
        """The connected producer.

        Raises:
            KafkaUnavailableError: If no broker answers, or the connection was closed.
        """
        if self._producer is None:
            async with self._replacing:
                if self._producer is None:
                    self._producer = await self._opened()
        return self._producer

    async def replace(self, failed: AIOKafkaProducer) -> None:
        """Closes a producer whose batch failed: its sequence numbers may have a gap, and the broker would reject all later batches.

        The next call of :meth:`producer` opens a new one. Does nothing if ``failed`` was already replaced.
        """
        async with self._replacing:
            if self._producer is failed:
                _log.warning("kafka_producer_replaced", bootstrap=self._kafka.bootstrap)
                self._producer = None
                await self._close(failed)

    async def close(self) -> None:
        """Sends pending records, within the time-out, and disconnects for good; may be called repeatedly."""
        self._is_closed = True
        producer, self._producer = self._producer, None
        if producer is not None:
            await self._close(producer)

    async def _opened(self) -> AIOKafkaProducer:
        """A new producer. A task that outlives the close opens none: nobody would close it."""
        producer = None if self._is_closed else await self._open()
        if producer is not None and self._is_closed:
            await self._close(producer)
        if producer is None or self._is_closed:
            raise KafkaUnavailableError("the producer was stopped: this process is ending")
        return producer

    async def _open(self) -> AIOKafkaProducer:
        with kafka_faults("connecting a producer", self._kafka):
            producer = AIOKafkaProducer(**producer_options(self._kafka), enable_idempotence=True, **self._options)
            try:
                await connect(producer)
            except BaseException:
                await producer.stop()
                raise
            return producer

    async def _close(self, producer: AIOKafkaProducer) -> None:
        if not await close_producer(producer, within_s=self._close_timeout_s):
            _log.warning("kafka_producer_closed_unacknowledged", bootstrap=self._kafka.bootstrap)


async def close_producer(producer: AIOKafkaProducer, *, within_s: float) -> bool:
    """Sends a producer's pending records and closes it; aborts it if that takes too long, fails, or is cancelled.

    Returns:
        Whether all pending records were acknowledged. The others are not sent any more, and their futures have failed.
    """
    stopped = False
    try:
        with contextlib.suppress(KafkaError, TimeoutError):
            async with asyncio.timeout(within_s):
                await producer.stop()
            stopped = True
    finally:
        if not stopped:
            await _abort(producer, within_s)
    return stopped


async def _abort(producer: AIOKafkaProducer, within_s: float) -> None:
    """Ends the sender first: otherwise it reconnects after the client is closed."""
    tasks = _tasks_of(producer._sender)  # noqa: SLF001 - aiokafka ends it only after sending everything
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=_CANCEL_AGAIN_S)
    producer._message_accumulator.fail_all(ProducerClosed())  # noqa: SLF001 - as aiokafka does when its sender breaks
    with contextlib.suppress(KafkaError, TimeoutError):
        async with asyncio.timeout(within_s):
            await producer.client.close()


def _tasks_of(sender: Any) -> set[asyncio.Task[Any]]:
    """The tasks of the sender and of its requests, which have no public accessor."""
    return {task for task in asyncio.all_tasks() if inspect.getcoroutinelocals(cast(Any, task.get_coro())).get("self") is sender}
