"""A command that is killed after any of its steps, and run again, leaves what it leaves when nobody kills it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import orjson
import pytest

from control import Draft, read_audit, read_control
from control.generations.dropping import drop
from control.generations.switching import switch
from control.tenant_changes import add_generation, set_tenant
from memory.keys import encode_key
from memory.records import Contribution, Merged
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, TopicPartition, check_topics, create_topics, read_topic
from runtime.kafka.topics import create_topic, delete_before
from runtime.redis.client import open_redis
from runtime.settings import ControlSettings, Settings
from stores.port import MemoryStore
from streams.engine.faust.app import changelog_config
from streams.engine.state.folders import own_folder, tables_folder
from streams.engine.state.partition_state import pack
from streams.engine.tasks.offset_metadata import OffsetMetadata
from streams.errors import LossRefusedError
from streams.operations.accept_loss import LostRange, accept_loss, find_loss
from streams.operations.rebuild import rebuild
from streams.operations.replay import ReplayStart, replay
from streams.stages.catalog import STAGES
from tests.control_log import add_tenant, write
from tests.streams.agent_extractions import SCHEMA, extraction
from tests.streams.agent_extractions import TENANT as AGENTS
from tests.streams.durable_steps import Killed, killed_after
from tests.streams.flow import flow_settings
from varve.cli.control_log import apply_to_log

pytestmark = pytest.mark.integration

RECORDS: Final = 8
"""In each partition of a stage's topic."""
HANDLED: Final = 5
"""How many of them its group has handled."""
ROWS: Final = 3
NEW: Final = "v2"
BY: Final = "a test"
ADOPTED: Final = "an answer that was adopted"
UNREAD: Final = ("an answer that nobody has read", "another")

REBUILT: Final = ("entities", "merging", "index", "events")
TRIED: Final = (1, 6, 13)
"""After the answers are appended, the first table is empty, and the first stage may continue."""

NewSettings = Callable[[str], Awaitable[Settings]]


@dataclass(frozen=True)
class Command:
    """A command, what it needs, and what it leaves."""

    name: str
    run: Callable[[Settings], Awaitable[object]]
    prepare: Callable[[Settings], Awaitable[object]]
    left: Callable[[Settings], Awaitable[object]]
    resets: tuple[str, ...] = ()
    """The stages whose state it drops."""
    tried: tuple[int, ...] = ()
    """The steps after which it is killed here, if there are many; ``tests/chaos`` tries all."""

    def __str__(self) -> str:
        return self.name


@pytest.fixture
def new_settings(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> NewSettings:
    """Makes separate installations, by name, on the same servers."""

    async def make(name: str) -> Settings:
        prefix, data = f"{topic_prefix}{name}.", tmp_path / name
        base = flow_settings(kafka=kafka, topic_prefix=prefix, redis_url=redis_url, data=data, socket=tmp_path / "none.sock")
        return base.model_copy(update={"control": ControlSettings(lease_s=0.01)})

    return make


# Stages that have handled some of their records, and keep something.


async def _handled(settings: Settings, *names: str) -> None:
    await create_topics(settings)
    kafka, partitions, records = settings.kafka, range(settings.kafka.partitions), list[OutgoingRecord]()
    for name in names:
        stage = STAGES[name]
        topic, changelog = settings.topic(stage.source.name), stage.changelog(kafka.topic_prefix)
        records += [OutgoingRecord(topic, b"k%d" % each, b"v", partition=number) for number in partitions for each in range(RECORDS)]
        if stage.has_table:
            await create_topic(changelog, config=changelog_config(kafka), kafka=kafka)
            rows = [(b"row-%d" % each, pack(each, b"v")) for each in range(ROWS)]
            records += [OutgoingRecord(changelog, *row, partition=number) for number in partitions for row in rows]
    with own_folder(tables_folder(settings.data, names[0]), names[0]) as folder:
        (folder / "table").write_text("rows")
    async with Producer(kafka=kafka) as producer:
        await producer.send_many(records)
    for name in names:
        await _commit(settings, name, HANDLED)


async def _commit(settings: Settings, name: str, offset: int) -> None:
    stage = STAGES[name]
    offsets = {TopicPartition(settings.topic(stage.source.name), number): offset for number in range(settings.kafka.partitions)}
    await ConsumerGroups(kafka=settings.kafka).commit(stage.group(settings.kafka.topic_prefix), offsets)


async def _stage(settings: Settings, name: str) -> dict[str, Any]:
    """The position at which a stage continues, whether its workers may, and what it keeps."""
    stage = STAGES[name]
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        commits = await offsets.commits(stage.group(settings.kafka.topic_prefix), [settings.topic(stage.source.name)])
    rows: dict[tuple[int, bytes | None], bytes | None] = {}
    if stage.has_table:
        async for record in read_topic(stage.changelog(settings.kafka.topic_prefix), settings.kafka):
            rows[record.partition, record.key] = record.value
    tables = tables_folder(settings.data, name)
    return {
        "offsets": {each.partition: entry.offset for each, entry in commits.items()},
        "unfinished": {OffsetMetadata.parse(entry.metadata).unfinished for entry in commits.values()},
        "rows": sum(value is not None for value in rows.values()),
        "folders": len([*tables.iterdir()]) if tables.is_dir() else 0,
    }


def _replayed(name: str) -> Command:
    async def prepare(settings: Settings) -> None:
        await _handled(settings, name)
        if name == "entities":
            await _commit(settings, name, RECORDS)

    async def run(settings: Settings) -> None:
        await replay(settings, name, ReplayStart())

    async def left(settings: Settings) -> object:
        return await _stage(settings, name)

    return Command(f"replay {name}", run, prepare, left, resets=(name,) if name == "sessions" else ())


# A rebuild.


def _answer(topic: str, text: str) -> OutgoingRecord:
    answer = Contribution(
        kind="merged",
        tenant=AGENTS,
        entity_type="person",
        entity_key="ada",
        source="merges/0",
        position=0,
        time=datetime(2024, 5, 1, tzinfo=UTC),
        merged=Merged(property="story", outcome={"text": text}),
    )
    return OutgoingRecord(topic, encode_key(AGENTS, answer.entity_type, answer.entity_key), answer.to_json())


async def _with_answers(settings: Settings) -> None:
    await _handled(settings, *STAGES)
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([_answer(settings.topic("merged"), ADOPTED)])
        await producer.send_many([_answer(settings.topic("contributions"), each) for each in UNREAD])


class _Store:
    """A vector store that can be dropped, and nothing else."""

    async def drop(self) -> None:
        """The content belongs to another test."""


async def _rebuild(settings: Settings) -> None:
    async with open_redis(settings.redis) as redis:
        await rebuild(settings, store=cast(MemoryStore, _Store()), redis=redis)


async def _after_rebuild(settings: Settings) -> object:
    """The records that each stage finds when it starts; of ``contributions`` those that it reads first."""
    stages = {name: await _stage(settings, name) for name in STAGES}
    topic = settings.topic("contributions")
    # No reader sees the further records of a killed run: the offsets are after them.
    start = {TopicPartition(topic, number): offset for number, offset in stages["entities"].pop("offsets").items()}
    read_first = [record.value or b"" async for record in read_topic(topic, settings.kafka, start=start)]
    return stages, [orjson.loads(each)["merged"]["outcome"]["text"] for each in read_first]


# Lost records, generations, topics, and the control log.


async def _with_loss(settings: Settings) -> None:
    await _handled(settings, "merging")
    await delete_before({TopicPartition(settings.topic("merges"), 0): HANDLED + 1}, settings.kafka)


async def _accept_loss(settings: Settings) -> None:
    lost = LostRange(first=HANDLED, next=HANDLED + 1)
    if await find_loss(settings, "merging", 0) is not None:
        await accept_loss(settings, "merging", 0, lost, accepted_by=BY)
        return
    with pytest.raises(LossRefusedError, match="nothing to accept"):  # it was accepted before the command was killed
        await accept_loss(settings, "merging", 0, lost, accepted_by=BY)


async def _after_loss(settings: Settings) -> object:
    audited = [record.value or b"" async for record in read_topic(settings.topic("audit"), settings.kafka)]
    return (await _stage(settings, "merging"))["offsets"], sum(b"accept_loss" in each for each in audited)


async def _with_generation(settings: Settings) -> None:
    """A generation in addition to the live one, whose worker has handled all windows."""
    await create_topics(settings)
    await add_tenant(settings, AGENTS, schema=SCHEMA)
    await write(settings, lambda draft: add_generation(draft, AGENTS, NEW))
    made = [extraction(window, [("search", 0)], generation=each) for window in range(2) for each in ("", NEW)]
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(
            [OutgoingRecord(settings.topic("extractions"), encode_key(AGENTS, each.user), each.to_json()) for each in made]
        )


async def _switch(settings: Settings) -> None:
    await switch(settings, AGENTS, NEW, by=BY)


async def _drop(settings: Settings) -> None:
    await drop(settings, AGENTS, NEW, by=BY)


async def _after_generations(settings: Settings) -> object:
    """The live generation, and the windows of which each generation still has results."""
    left: dict[str, set[str]] = {"": set(), NEW: set()}
    async for record in read_topic(settings.topic("extractions"), settings.kafka):
        if b'"window_id"' in (record.value or b""):
            fields = orjson.loads(record.value or b"")
            (left[fields["generation"]].add if fields["events"] else left[fields["generation"]].discard)(fields["window_id"])
    tenant = Draft(await read_control(settings)).tenant(AGENTS)
    return tenant.generation, tenant.drops_of(NEW) > 0, left


async def _nothing(_: Settings) -> None:
    """No topic is there."""


async def _with_tenant(settings: Settings) -> None:
    await create_topics(settings)
    await add_tenant(settings, AGENTS, schema=SCHEMA)


async def _apply(settings: Settings) -> None:
    def change(draft: Draft) -> None:
        set_tenant(draft, AGENTS, weight=2.0)

    await apply_to_log(settings, change, by=BY, dry_run=False)


async def _after_apply(settings: Settings) -> object:
    check, records = await read_audit(settings)
    return Draft(await read_control(settings)).tenant(AGENTS).weight, check.problems, [each.action for each in records]


COMMANDS: Final = (
    *(_replayed(name) for name in STAGES),
    Command("rebuild", _rebuild, _with_answers, _after_rebuild, REBUILT, TRIED),
    Command("accept-loss", _accept_loss, _with_loss, _after_loss),
    Command("generations switch", _switch, _with_generation, _after_generations),
    Command("generations drop", _drop, _with_generation, _after_generations),
    Command("topics create", create_topics, _nothing, check_topics),
    Command("apply", _apply, _with_tenant, _after_apply),
)


@pytest.mark.parametrize("command", COMMANDS, ids=str)
async def test_killed_after_any_step_and_run_again(command: Command, new_settings: NewSettings) -> None:
    await kill_and_run_again(command, new_settings, tried=command.tried)


async def kill_and_run_again(command: Command, new_settings: NewSettings, *, tried: tuple[int, ...] = ()) -> None:
    """Kills a command after each of its steps, each time in its own installation, and runs it again.

    Args:
        command: The command.
        new_settings: Makes the installations.
        tried: The numbers of the steps; empty: all.
    """
    undisturbed = await new_settings("undisturbed")
    await command.prepare(undisturbed)
    with killed_after(None, (_Store, "drop")) as steps:
        await command.run(undisturbed)
    assert steps
    expected = await command.left(undisturbed)
    for number in tried or range(1, len(steps) + 1):
        settings, step = await new_settings(f"killed-{number}"), steps[number - 1]
        await command.prepare(settings)
        before = {name: await _stage(settings, name) for name in command.resets}
        with killed_after(number, (_Store, "drop")), pytest.raises(Killed):
            await command.run(settings)
        after = {name: await _stage(settings, name) for name in command.resets}
        half_reset = [name for name in command.resets if not _may_start(before[name], after[name])]
        assert half_reset == [], f"killed after step {number} of {steps}"
        with killed_after(None) as again:
            await command.run(settings)
        assert await command.left(settings) == expected, f"killed after step {number} of {steps}, then {again}"
        assert step != "settle" or again == ["settle"], "who asks again learns only then that all processes know"


def _may_start(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether a stage's workers may be started: they wait, or find offsets and rows that belong together."""
    has_moved, has_lost = (before[each] != after[each] for each in ("offsets", "rows"))
    return after["unfinished"] != {None} or has_moved == has_lost or not before["rows"]
