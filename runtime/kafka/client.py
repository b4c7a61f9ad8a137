"""Connection of Kafka clients: options, start, translation of their errors, and a consumer without a group."""

import asyncio
import copy
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, cast

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.consumer.fetcher import READ_UNCOMMITTED
from aiokafka.errors import (
    InvalidTimestampError,
    InvalidTopicError,
    KafkaError,
    MessageSizeTooLargeError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka.helpers import create_ssl_context
from aiokafka.protocol.metadata import MetadataRequest

from memory.errors import RecordTooLargeError
from runtime.errors import KafkaUnavailableError, TopicMissingError
from runtime.settings import KafkaSettings

_CLOSE_S: Final = 1.0
"""Time for which a cancelled caller waits until a client's connections are closed, which usually takes a millisecond."""

CLOCK_AHEAD: Final = (
    "the broker refuses the time of the records: this machine's clock is ahead, or the broker's is behind; compare both with a third "
    "clock, and correct the wrong one"
)
"""The meaning of an ``InvalidTimestampError``: more than ``message.timestamp.after.max.ms``, by default an hour."""

_FETCHER_LOOK_S: Final = 1.0

_ABSENT: Final = frozenset(each.errno for each in (UnknownTopicOrPartitionError, InvalidTopicError, TopicAuthorizationFailedError))
"""Error codes of topics that do not exist or that the user may not see."""


def client_options(kafka: KafkaSettings) -> dict[str, Any]:
    """Options for every aiokafka client: addresses, security, time-out.

    Args:
        kafka: Kafka's settings; a SASL protocol needs user name and password.

    Raises:
        ValueError: If a SASL protocol is set without its user name or password.
    """
    options: dict[str, Any] = {
        "bootstrap_servers": [server.strip() for server in kafka.bootstrap.split(",")],
        "request_timeout_ms": int(kafka.request_timeout_s * 1000),
        "security_protocol": kafka.security_protocol,
    }
    if "SSL" in kafka.security_protocol.split("_"):
        options["ssl_context"] = create_ssl_context(cafile=kafka.ssl_cafile)
    if kafka.security_protocol.startswith("SASL"):
        if kafka.sasl_username is None or kafka.sasl_password is None:
            raise ValueError(
                f"VARVE_KAFKA__SECURITY_PROTOCOL={kafka.security_protocol} needs VARVE_KAFKA__SASL_USERNAME and VARVE_KAFKA__SASL_PASSWORD"
            )
        options["sasl_mechanism"] = kafka.sasl_mechanism
        options["sasl_plain_username"] = kafka.sasl_username
        options["sasl_plain_password"] = kafka.sasl_password.get_secret_value()
    return options


def producer_options(kafka: KafkaSettings) -> dict[str, Any]:
    """Options for every producer: those of :func:`client_options`, acknowledgement by all in-sync replicas, and compression."""
    return {**client_options(kafka), "acks": "all", "compression_type": None if kafka.compression == "none" else kafka.compression}


@contextmanager
def kafka_faults(doing: str, kafka: KafkaSettings) -> Iterator[None]:
    """Translates aiokafka's errors into Varve's.

    Args:
        doing: The current action, for the message: ``reading the offsets of ...``.
        kafka: Kafka's settings, for the address in the message.

    Raises:
        TopicMissingError: For an unknown topic or partition.
        RecordTooLargeError: For a record above the limit of the client or the broker.
        KafkaUnavailableError: For everything else.
    """
    try:
        yield
    except UnknownTopicOrPartitionError as error:
        raise TopicMissingError(f"{doing}: no such topic at {kafka.bootstrap}; run `varve topics create`") from error
    except MessageSizeTooLargeError as error:
        raise RecordTooLargeError(f"{doing}: {error}") from error
    except (KafkaError, OSError, TimeoutError) as error:
        what = str(error) or type(error).__name__
        if isinstance(error, InvalidTimestampError):
            raise KafkaUnavailableError(f"{doing}: {CLOCK_AHEAD}") from error
        raise KafkaUnavailableError(
            f"{doing} failed at {kafka.bootstrap}: {what}; is Kafka up and VARVE_KAFKA__BOOTSTRAP right?"
        ) from error


async def connect(client: AIOKafkaProducer | AIOKafkaConsumer | AIOKafkaAdminClient) -> None:
    """Starts a client. The caller has to stop it, even after an error.

    aiokafka leaks its first connection if the caller is cancelled before the broker has sent the cluster's metadata. Therefore this
    connection is closed here.
    """
    network = cast(Any, client.client if isinstance(client, AIOKafkaProducer) else client._client)  # noqa: SLF001 - only producers have a public attribute
    network.bootstrap = functools.partial(_closed_on_cancel, network.bootstrap)
    await client.start()


def look_seldom(consumer: AIOKafkaConsumer) -> None:
    """Lets a started consumer that runs for long look once a second, not five times, whether it can fetch from further partitions.

    Everything else wakes it at once: new records, an assignment, a resumed partition.
    """
    consumer._fetcher._fetcher_timeout = _FETCHER_LOOK_S  # noqa: SLF001 - aiokafka has no option for it


async def _closed_on_cancel(bootstrap: Callable[[], Coroutine[Any, Any, None]]) -> None:
    exchange = asyncio.create_task(bootstrap())
    try:
        await asyncio.shield(exchange)
    except asyncio.CancelledError:
        connection = inspect.getcoroutinelocals(cast(Any, exchange.get_coro())).get("bootstrap_conn")
        exchange.cancel()
        closed = [] if connection is None else [connection.close()]
        await asyncio.wait([exchange, *closed], timeout=_CLOSE_S)
        raise


async def disconnect(client: AIOKafkaConsumer | AIOKafkaAdminClient) -> None:
    """Stops a client. A caller that is cancelled meanwhile still waits for a moment, since the client's connections would stay open."""
    stopping = asyncio.ensure_future(client.close() if isinstance(client, AIOKafkaAdminClient) else client.stop())
    try:
        await asyncio.shield(stopping)
    except asyncio.CancelledError:
        await asyncio.wait([stopping], timeout=_CLOSE_S)
        raise


async def open_consumer(kafka: KafkaSettings, **options: Any) -> AIOKafkaConsumer:
    """A connected consumer without a group, which the caller disconnects; after an error, nothing is left open.

    Args:
        kafka: Kafka's settings.
        options: Further options of aiokafka's consumer.
    """
    consumer = AIOKafkaConsumer(**client_options(kafka), enable_auto_commit=False, **options)
    try:
        await connect(consumer)
    except BaseException:
        await disconnect(consumer)
        raise
    return consumer


@asynccontextmanager
async def admin_client(kafka: KafkaSettings, shared: AIOKafkaAdminClient | None = None) -> AsyncIterator[AIOKafkaAdminClient]:
    """An admin client for the length of a block; raises the errors of :func:`kafka_faults`.

    Args:
        kafka: Kafka's settings.
        shared: A connected client to use; its owner closes it. Default: a new one.
    """
    with kafka_faults("administering topics", kafka):
        if shared is not None:
            yield shared
            return
        client = AIOKafkaAdminClient(**client_options(kafka))
        try:
            await connect(client)
            yield client
        finally:
            await disconnect(client)


def admin_over(consumer: AIOKafkaConsumer, kafka: KafkaSettings) -> AIOKafkaAdminClient:
    """An admin client that uses a consumer's connections, which close with the consumer."""
    admin = AIOKafkaAdminClient(request_timeout_ms=int(kafka.request_timeout_s * 1000))
    admin._client = consumer._client  # noqa: SLF001 - aiokafka gives each client connections of its own
    return admin


async def learn_leaders(consumer: AIOKafkaConsumer, topics: Collection[str]) -> None:
    """Reads which brokers lead the partitions of topics that exist.

    A consumer would ask only after it has failed for the lack of it, and then wait for its retry backoff: 100 ms.
    """
    client = consumer._client  # noqa: SLF001 - aiokafka asks by itself only for topics that are assigned
    unknown = [topic for topic in topics if not client.cluster.partitions_for_topic(topic)]
    for asked in [client.add_topic(topic) for topic in unknown]:
        await asked


async def high_watermarks(consumer: AIOKafkaConsumer, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
    """The offset of the next record of each partition, also with a consumer that reads committed records only.

    Its own end is the last stable offset, which excludes all records after the start of an open transaction (KAFKA-10167).
    """
    fetcher = copy.copy(consumer._fetcher)  # noqa: SLF001 - aiokafka has no option for a single question
    fetcher._isolation_level = READ_UNCOMMITTED  # noqa: SLF001
    return dict(await fetcher.end_offsets(list(partitions), consumer._request_timeout_ms))  # noqa: SLF001


async def described_topics(client: AIOKafkaAdminClient, topics: Collection[str], broker: int | None = None) -> list[dict[str, Any]]:
    """Metadata of those topics that exist and that the user may see. Creates none.

    aiokafka can only describe all topics without creating any, which takes long on a broker with thousands of topics.

    Args:
        client: A connected client.
        topics: Names of topics.
        broker: The id of the broker that answers. Default: any.
    """
    return [topic for topic in (await _metadata(client, topics, broker))["topics"] if topic["error_code"] not in _ABSENT]


async def partition_counts(client: AIOKafkaAdminClient, topics: Collection[str]) -> dict[str, int]:
    """Number of partitions of each existing topic among these."""
    return {topic["topic"]: len(topic["partitions"]) for topic in await described_topics(client, topics)}


async def all_brokers_list(client: AIOKafkaAdminClient, topics: Collection[str]) -> bool:
    """Whether every broker that can be reached lists these topics: after their creation, each learns of them at its own time."""
    brokers = (await _metadata(client, topics, None))["brokers"]
    return all([await _lists(client, topics, broker["node_id"]) for broker in brokers])


async def _lists(client: AIOKafkaAdminClient, topics: Collection[str], broker: int) -> bool:
    try:
        listed = await described_topics(client, topics, broker)
    except KafkaError:  # A stopped broker reads the topics when it starts.
        return True
    return {topic["topic"] for topic in listed} >= set(topics)


async def _metadata(client: AIOKafkaAdminClient, topics: Collection[str], broker: int | None) -> dict[str, Any]:
    request = MetadataRequest(sorted(topics), allow_auto_topic_creation=False)
    response = await client._send_request(request, broker)  # noqa: SLF001 - its public methods do not pass the flag
    return dict(response.to_object())


async def all_partition_counts(client: AIOKafkaAdminClient) -> dict[str, int]:
    """Number of partitions of every topic on the broker."""
    return {topic["topic"]: len(topic["partitions"]) for topic in await client.describe_topics()}


class UngroupedConsumer:
    """Reads uncommitted records, too, so it never waits for a transaction.

    Args:
        fetch_bytes: Limit for the bytes of a partition in one fetch; a larger record is still returned whole.
    """

    def __init__(self, *, kafka: KafkaSettings, fetch_bytes: int) -> None:
        self._kafka = kafka
        self._fetch_bytes = fetch_bytes
        self._consumer: AIOKafkaConsumer | None = None
        self._reading = asyncio.Lock()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AIOKafkaConsumer]:
        """The connected client, for one caller at a time, for at most the request time-out.

        Raises:
            KafkaError: If no broker answers.
            TimeoutError: If the block takes longer than the request time-out.
        """
        async with self._reading, asyncio.timeout(self._kafka.request_timeout_s):
            yield await self._connected()

    async def stop(self) -> None:
        """Disconnects; may be called repeatedly."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await disconnect(consumer)

    async def _connected(self) -> AIOKafkaConsumer:
        if self._consumer is None:
            self._consumer = await open_consumer(
                self._kafka, auto_offset_reset="none", isolation_level="read_uncommitted", max_partition_fetch_bytes=self._fetch_bytes
            )
        return self._consumer
