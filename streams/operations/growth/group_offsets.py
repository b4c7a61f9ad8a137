"""Offsets and notes of the consumer groups before and after a growth of the topics.

A group with the note of a growth (``OffsetMetadata.unfinished``) processes nothing.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from aiokafka.structs import OffsetAndMetadata

from control import read_control
from control.generations.reading import workers_of
from memory.topics import MEMORIES, TopicSpec
from runtime.kafka import ConsumerGroups, KafkaOffsets, TopicPartition
from runtime.settings import Settings
from stores.port import MemoryStore
from stores.position import FeedPosition
from streams.engine.tasks.offset_metadata import OffsetMetadata, unfinished_command
from streams.operations.growth.journal import GroupState, Growth
from streams.stages.catalog import STAGES

COMMAND: Final = "topics grow"


async def generation_names(settings: Settings) -> set[str]:
    """The names of all tenants' generations, and that of the first one, which is empty."""
    return {each.name for tenant in (await read_control(settings)).tenants.values() for each in tenant.generations} | {""}


async def group_states(settings: Settings, offsets: KafkaOffsets, *, known: Mapping[str, list[GroupState]]) -> dict[str, list[GroupState]]:
    """The offsets of each stage before the growth: of a stage that has its note already, the known ones."""
    found = {}
    for stage in STAGES.values():
        commits = await offsets.commits(stage.group(settings.kafka.topic_prefix), [settings.topic(stage.source.name)])
        states = [
            GroupState(partition=place.partition, offset=each.offset, metadata=each.metadata or "")
            for place, each in sorted(commits.items())
        ]
        found[stage.name] = known.get(stage.name, []) if is_noted(commits) else states
    return found


def is_noted(commits: Mapping[TopicPartition, OffsetAndMetadata]) -> bool:
    """Whether a group has the note of an unfinished growth, so that its workers process nothing."""
    return unfinished_command(each.metadata for each in commits.values()) == COMMAND


def handled_offsets(growth: Growth, ends: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """By topic: the offset of the first unread record of each partition. In topics without a stage, everything counts as read."""
    handled = {name: list(each) for name, each in ends.items()}
    for stage in STAGES.values():
        committed = {each.partition: each.offset for each in growth.groups.get(stage.name, [])}
        handled[stage.source.name] = [committed.get(number, 0) for number in range(growth.old_partitions)]
    return handled


async def further_readers(settings: Settings, offsets: KafkaOffsets) -> dict[str, TopicSpec]:
    """Further groups that have offsets in the old topics, by the part of their names after the prefix."""
    prefix = settings.kafka.topic_prefix
    names = await generation_names(settings)
    candidates = {workers_of(settings, name).removeprefix(prefix): STAGES["extraction"].source for name in names} | {"webhooks": MEMORIES}
    return {
        name: spec for name, spec in candidates.items() if await offsets.committed_offsets(f"{prefix}{name}", [settings.topic(spec.name)])
    }


async def set_starts(after: Settings, starts: Mapping[str, list[int]], *, store: MemoryStore, reads: Mapping[str, TopicSpec]) -> None:
    """Sets the offsets of the new groups, with a note, and the store's checkpoints."""
    groups, prefix = ConsumerGroups(kafka=after.kafka), after.kafka.topic_prefix
    note = OffsetMetadata(unfinished=COMMAND).text
    for stage in STAGES.values():
        places = places_at(after.topic(stage.source.name), starts[stage.source.name])
        await groups.commit(stage.group(prefix), {place: OffsetAndMetadata(offset, note) for place, offset in places.items()})
    for name, spec in reads.items():
        await groups.commit(f"{prefix}{name}", places_at(after.topic(spec.name), starts[spec.name]))
    now_ms = round(time.time() * 1000)
    for number, start in enumerate(starts[MEMORIES.name]):
        if start:
            await store.set_checkpoint(FeedPosition(number, start - 1, now_ms))


async def release(after: Settings, starts: Mapping[str, list[int]]) -> None:
    """Removes the notes of the new groups."""
    groups = ConsumerGroups(kafka=after.kafka)
    async with KafkaOffsets(kafka=after.kafka) as offsets:
        for stage in STAGES.values():
            group, topic = stage.group(after.kafka.topic_prefix), after.topic(stage.source.name)
            if is_noted(await offsets.commits(group, [topic])):
                await groups.commit(group, places_at(topic, starts[stage.source.name]))


def places_at(topic: str, offsets: Sequence[int]) -> dict[TopicPartition, int]:
    """Offsets by partition, given in the order of the partitions."""
    return {TopicPartition(topic, number): offset for number, offset in enumerate(offsets)}


def by_number(ends: Mapping[TopicPartition, int]) -> list[int]:
    """Offsets in the order of the partitions, as a growth notes them."""
    return [ends[each] for each in sorted(ends, key=lambda each: each.partition)]
