"""The real stages in this process, for tests of the whole flow."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from aiokafka.structs import OffsetAndMetadata

from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import Message, SessionCommand
from memory.schema import MemorySchema, sample_conversation
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition
from runtime.kafka.parked_note import ParkedNote
from runtime.metrics import Metrics
from runtime.settings import DeliverySettings, EmbeddingSettings, ServiceSettings, SessionSettings, Settings, StoreSettings
from runtime.tracing import Headers
from streams.engine.context import StageContext
from streams.engine.keyed.attempts import KeyedHandler
from streams.engine.keyed.keyed_driver import KeyedDriver
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.tasks.driver import Driver, InFlightRecord
from streams.engine.worker import Worker
from streams.run import serve_stage
from streams.stages.catalog import STAGES
from tests.one_broker import one_broker
from tests.redis_server import own_keys
from tests.waiting import until_async

TENANT = "acme"
FIRST_WEEK = frozenset({"evening-talk", "morning-after"})
"""Sessions of the companion sample."""
DEFAULT_TENANTS: Mapping[str, str] = {TENANT: "companion"}
DEADLINE_S = 280.0
POLL_S = 0.1
PATIENCE_S = 60.0
"""Time-out of a request to a server: the machine may stop for seconds."""


class NewFlow(Protocol):
    """The type of the fixture ``new_flow``."""

    async def __call__(self, tenants: Mapping[str, str | MemorySchema] = DEFAULT_TENANTS, **groups: object) -> Settings:
        """The settings of a flow.

        Args:
            tenants: Its tenants, each with its schema.
            groups: Groups of settings in place of the usual ones.
        """
        ...


def flow_settings(*, kafka: str, topic_prefix: str, redis_url: str, data: Path, socket: Path) -> Settings:
    """A separate flow on shared servers, with windows so small that a sample gives several, and none that closes by the wall clock."""
    return Settings(
        data=data,
        kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2),
        redis=own_keys(redis_url, topic_prefix),
        store=StoreSettings(socket=socket, timeout_s=PATIENCE_S),
        service=ServiceSettings(produce_timeout_s=PATIENCE_S),
        sessions=SessionSettings(message_count=4, message_cap=6, idle_partition_s=86400.0),
        delivery=DeliverySettings(batch_interval_s=0.0),
        embedding=EmbeddingSettings(batch_size=8),
    )


@asynccontextmanager
async def serving(settings: Settings, stages: Iterable[str] = STAGES) -> AsyncIterator[None]:
    """Runs stages for the length of a block; what one of them raises, the block raises."""
    stops = {name: asyncio.Event() for name in stages}
    async with asyncio.TaskGroup() as running:
        for name, stop in stops.items():
            running.create_task(serve_stage(name, settings, stop))
        try:
            yield
        finally:
            for stop in stops.values():
                stop.set()


def keyed_worker(settings: Settings, handler: KeyedHandler, *, max_span: int, stage: str = "extraction") -> Worker:
    """The delivery of a stage that works by key, with another handler.

    Args:
        settings: The settings in force.
        handler: What it does with a record.
        max_span: How far it sees.
        stage: The stage.
    """
    source = settings.topic(STAGES[stage].source.name)

    def new_driver(context: StageContext) -> Driver:
        scheduler = Scheduler[InFlightRecord](slots=8, tenant_share=1.0, max_in_flight=100, max_span=max_span)
        return KeyedDriver(context=context, handler=handler, topic=source, scheduler=scheduler)

    return Worker(
        stage=stage,
        source=source,
        has_table=True,
        settings=settings,
        metrics=Metrics(),
        new_driver=new_driver,
    )


async def caught_up(settings: Settings, stages: Iterable[str] = STAGES, *, deadline_s: float = DEADLINE_S) -> None:
    """Returns when the stages have handled all records, and their results have added no new ones."""
    specs = [STAGES[name] for name in stages]
    topics = [settings.topic(spec.source.name) for spec in specs]
    seen: dict[TopicPartition, int] | None = None
    behind: dict[TopicPartition, int] = {}
    parked: dict[str, int] = {}
    try:
        async with asyncio.timeout(deadline_s), KafkaOffsets(kafka=settings.kafka) as offsets:
            while True:
                ends = await offsets.end_offsets(topics)
                if ends == seen:
                    commits: dict[TopicPartition, OffsetAndMetadata] = {}
                    for spec, topic in zip(specs, topics, strict=True):
                        own = await offsets.commits(spec.group(settings.kafka.topic_prefix), [topic])
                        commits |= own
                        parked[topic] = sum(ParkedNote.read(each.metadata).count for each in own.values())
                    # The ends are read last: they contain all results of the records before the commits.
                    ends = await offsets.end_offsets(topics)
                    behind = {each: max(0, end - commits[each].offset) if each in commits else end for each, end in ends.items()}
                    if ends == seen and not any(behind.values()) and not any(parked.values()):
                        return
                seen = ends
                await asyncio.sleep(POLL_S)
    except TimeoutError as error:
        raise AssertionError(f"not caught up in {deadline_s:g} s; lag: {behind}, parked {parked}") from error


async def have_workers(settings: Settings, stages: Iterable[str] = STAGES) -> None:
    """Returns when each stage has a worker, before a request that waits for their results for seconds only."""
    groups = [STAGES[name].group(settings.kafka.topic_prefix) for name in stages]
    await until_async(
        lambda: ConsumerGroups(kafka=settings.kafka).members(groups), lambda found: all(found.values()), deadline_s=DEADLINE_S
    )


async def followed(settings: Settings, generation: str) -> None:
    """Returns when the second worker of a generation has done all windows."""
    group = STAGES["extraction"].group(settings.kafka.topic_prefix, suffix=generation)
    async with asyncio.timeout(DEADLINE_S), KafkaOffsets(kafka=settings.kafka) as offsets:
        while True:
            if not sum((await offsets.lag(group, [settings.topic("windows")])).values()):
                return
            await asyncio.sleep(POLL_S)


async def send_sample(
    settings: Settings, *, session: str = "s-1", user: str = "ada", tenant: str = TENANT, headers: Headers = (), most: int | None = None
) -> int:
    """Produces the talk of the companion sample's first week as one session's messages, too short for a timeline to age.

    ``most`` limits the number of messages. Default: no limit.
    """
    start = datetime(2024, 5, 1, tzinfo=UTC)
    key = encode_key(tenant, session)
    records = []
    week = [turn for turn in sample_conversation("companion") if turn["session"] in FIRST_WEEK and "tool_call" not in turn][:most]
    for number, turn in enumerate(week):
        said_at = start + timedelta(minutes=number)
        message = Message.model_validate(
            {"role": turn.get("role", "user"), "text": turn["text"]}
            | {"tenant": tenant, "user": user, "session": session, "id": f"{session}-m{number}", "event_time": said_at}
        )
        records.append(OutgoingRecord(topic=settings.topic("messages"), key=key, value=message.to_json(), headers=headers))
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(records)
    return len(records)


def message_of_session(settings: Settings, session: int, text: str) -> OutgoingRecord:
    """The one message of a user's session; each session has its own day."""
    said = Message(
        tenant=TENANT,
        user="ada",
        session=f"s-{session}",
        id=f"m-{session}",
        text=text,
        event_time=datetime(2024, 5, 1 + session, tzinfo=UTC),
    )
    return OutgoingRecord(topic=settings.topic("messages"), key=encode_key(TENANT, said.session), value=said.to_json())


async def flush(settings: Settings) -> None:
    """Closes all open windows of the tenant."""
    command = SessionCommand(command="flush", tenant=TENANT)
    async with Producer(kafka=settings.kafka) as producer:
        for partition in range(settings.kafka.partitions):
            await producer.send(
                settings.topic("messages"), key=encode_key(TENANT), value=command.to_json(), headers=((KIND, COMMAND),), partition=partition
            )
