"""A user is erased while stages and the command are killed: none of the user's data is left, and all other users' data is."""

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from memory.ids import entity_id
from memory.keys import encode_key
from memory.topics import ALL, EXTRACTIONS, MESSAGES, WINDOWS
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer
from runtime.settings import Settings
from streams.stages.catalog import STAGES
from tests.chaos.compaction import compacting
from tests.chaos.run import FaultContext, Injection, flood
from tests.chaos.topic_log import LogRecord, read_log

_USER: Final = "user-3"
_MESSAGES: Final = 200
_WATCH_S: Final = 2.0
_DEADLINE_S: Final = 300.0
_BROKEN_OFF_WITHIN_S: Final = (8.0, 45.0)
_PATIENCE_S: Final = "240"
_KEPT_BY_A_SERVER: Final = "the files of the Qdrant server"
"""The beginning of what a receipt says with a server's store."""
_COUNT: Final = re.compile(r"(\S+)\t[0-9]+ standing\t([0-9]+) on disk")


def erasure_amid(part: Injection) -> Injection:
    """A second tenant has users, of whom one is erased meanwhile; the command is killed once, and run again."""

    async def inject(context: FaultContext) -> None:
        tenant = _tenant(context)
        await context.cluster.add_tenant(tenant, methods=context.methods)
        await flood(context, tenant, _MESSAGES)
        said = _Said(context, tenant)
        watching = asyncio.create_task(said.watch())
        try:
            async with asyncio.TaskGroup() as work:
                work.create_task(_killed(part, context))
                work.create_task(_erase(context, tenant))
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        await said.note_what_was_cut()
        context.others[tenant].erased.add(_USER)

    return inject


async def check_erased(context: FaultContext) -> None:
    """No record or row names the user. After Kafka's compaction, the bytes are not on its disk either."""
    tenant = _tenant(context)
    code, output = await context.cluster.command("erasures", "check", tenant, _USER)
    context.expect(code == 0, f"{_USER} is still named: {output}")
    code, output = await context.cluster.command("erasures", "list", tenant)
    remains = [line for line in output.splitlines() if "remains" in line and _KEPT_BY_A_SERVER not in line]
    context.expect(code == 0 and "done" in output and not remains, f"no clean receipt: {output}")
    settings = context.cluster.settings
    compacted = [settings.topic(each.name) for each in ALL if each.cleanup == "compact" and each.partitions is None]
    compacted += [stage.changelog(settings.kafka.topic_prefix) for stage in STAGES.values() if stage.has_table]
    before = {each.name: await read_log(settings, each.name) for each in (WINDOWS, EXTRACTIONS)}
    async with compacting(settings, compacted):
        try:
            async with asyncio.timeout(_DEADLINE_S):
                while left := await _on_disk(context, tenant, compacted):
                    await _nudge(settings, tenant, left)
                    await asyncio.sleep(_WATCH_S)
        except TimeoutError:
            context.violations.append(f"compaction leaves {left}")
    for topic, records in before.items():
        left_there = {each.position for each in await read_log(settings, topic)}
        # Also what was driven again: of two records of one window the later one is kept.
        context.history.remove(topic, [each for each in records if each.position not in left_there])


async def _killed(part: Injection, context: FaultContext) -> None:
    await part(context)


async def _erase(context: FaultContext, tenant: str) -> None:
    """Runs the command, kills it somewhere on its way, and runs it to its end."""
    arguments = ("erase", tenant, _USER, "--yes", "--patience", _PATIENCE_S)
    with suppress(TimeoutError):
        async with asyncio.timeout(context.rng.uniform(*_BROKEN_OFF_WITHIN_S)):
            await context.cluster.command(*arguments)
    code, output = await context.cluster.command(*arguments)
    context.expect(code == 0, f"the erasure ended with {code}: {output}")


class _Said:
    """The records of the messages log before the erasure cut it off.

    Args:
        context: The context of the fault.
        tenant: The tenant of the messages.
    """

    def __init__(self, context: FaultContext, tenant: str) -> None:
        self._context = context
        self._records: dict[tuple[int, int], LogRecord] = {}

    async def watch(self) -> None:
        """Reads the log again and again: it is cut off at a moment that nobody announces."""
        while True:
            for record in await read_log(self._context.cluster.settings, MESSAGES.name):
                self._records[record.partition, record.offset] = record
            await asyncio.sleep(_WATCH_S)

    async def note_what_was_cut(self) -> None:
        """Adds the records that were cut off to the run's history: all of them were handled."""
        settings = self._context.cluster.settings
        topic = settings.topic(MESSAGES.name)
        async with KafkaOffsets(kafka=settings.kafka) as offsets:
            begins = {each.partition: begin for each, begin in (await offsets.beginning_offsets([topic])).items()}
        self._context.expect(any(begins.values()), "the messages were not cut off")
        cut = [self._records[place] for place in sorted(self._records) if place[1] < begins[place[0]]]
        self._context.history.remove(MESSAGES.name, cut)


def _tenant(context: FaultContext) -> str:
    return f"{context.tenant}-leaving"


async def _on_disk(context: FaultContext, tenant: str, topics: list[str]) -> dict[str, str]:
    """The number of the user's records that are still on the disk, by topic."""
    _, output = await context.cluster.command("erasures", "check", tenant, _USER)
    counts = dict(_COUNT.findall(output))
    return {topic: counts[topic] for topic in topics if counts.get(topic, "0") != "0"}


async def _nudge(settings: Settings, tenant: str, topics: Iterable[str]) -> None:
    """Writes a tombstone of nothing into each partition: only a segment that another follows is compacted."""
    key = encode_key(tenant, entity_id(tenant, "nothing", "nobody"))
    records = [OutgoingRecord(topic, key, None, partition=partition) for topic in topics for partition in range(settings.kafka.partitions)]
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(records)
