"""Grows the number of partitions, in steps that a repeated command completes.

1. The stages are stopped, and their groups get a note: their workers process nothing until the growth is undone or finished.
2. New topics are created under another prefix, and filled (:mod:`streams.operations.growth.filling`). A killed command leaves nothing that
   counts: the next one deletes these topics and begins again.
3. Everything is read again and compared, and the workers of the new topics may begin.
4. Until ``--finish``, the old topics stay. Records that a producer still appends to them are copied by each further call.
"""

import shutil
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import Final

from aiokafka.structs import OffsetAndMetadata

from control.unfinished_erasures import require_no_erasure
from memory.texts.text import counted
from memory.topics import EXTRACTIONS, MESSAGES, READS, RECALLS
from runtime.kafka import ConsumerGroups, KafkaOffsets, Producer, TopicPartition, check_topics, create_topics
from runtime.kafka.bulk import read_range
from runtime.kafka.topics import broker_config, create_topic, delete_before, delete_topics, set_topic_config, topic_partitions
from runtime.seals import Keyring
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.engine.faust.app import changelog_config
from streams.engine.records import ConsumedRecord
from streams.errors import GrowthRefusedError
from streams.operations.growth.checks import cut_logs, require_applied, require_free_names, require_unused, require_whole_generations
from streams.operations.growth.copies import Copies
from streams.operations.growth.filling import TopicFiller
from streams.operations.growth.group_offsets import (
    COMMAND,
    by_number,
    further_readers,
    group_states,
    handled_offsets,
    is_noted,
    places_at,
    release,
    set_starts,
)
from streams.operations.growth.journal import Growth, growth_prefixes, journal_topic, read_journal, write_journal
from streams.operations.growth.layout import GROWN, Layout, new_layout, topic_in, topics_of
from streams.operations.growth.rows import TABLES
from streams.operations.resetting import StageReset, resetting
from streams.stages.catalog import STAGES

LATE: Final = (MESSAGES, EXTRACTIONS, RECALLS, READS)
"""Topics to which producers and the query service may append while and after the stages are stopped."""

Notice = Callable[[str], None]


async def find_growth(settings: Settings, *, partitions: int | None, prefix: str | None) -> tuple[Layout, Layout, Growth | None]:
    """The present and the new set of topics, and the growth that has begun.

    Args:
        settings: The settings of either set.
        partitions: The number to grow to. None: the settings are those of the new set, or the growth is found by ``prefix``.
        prefix: The prefix of the new set. Default: it follows from the present one.

    Raises:
        GrowthRefusedError: Nothing has begun, and no number is given; or the number cannot be grown to.
        KafkaUnavailableError: No broker responds.
    """
    topics, present = await topic_partitions(settings.kafka), Layout.of(settings)
    growth = await read_journal(settings, present, topics=topics)
    if growth is not None:
        return growth.old, growth.new, growth
    if partitions is None:
        prefixes = growth_prefixes(topics) if prefix is None else [prefix]
        for each in prefixes:
            growth = await read_journal(settings, Layout(each, 0), topics=topics)
            if growth is not None and growth.old == present:
                return growth.old, growth.new, growth
        raise GrowthRefusedError("no growth has begun: give the number of partitions, for example `varve topics grow --partitions 24`")
    new = new_layout(present, partitions, prefix)
    return present, new, await read_journal(settings, new, topics=topics)


async def grow(
    settings: Settings, old: Layout, new: Layout, growth: Growth | None, *, store: MemoryStore, notice: Notice = lambda line: None
) -> Growth:
    """Fills the new set of topics; for a growth that is ready, copies what was appended to the old topics since.

    Args:
        settings: The settings of either set.
        old: The present set.
        new: The new set.
        growth: The growth that has begun.
        store: The vector store, which gets the checkpoints of the new partitions.
        notice: Called with a line of progress.

    Raises:
        GrowthRefusedError: The topics cannot grow now; the message has the reason.
        GroupInUseError: A worker runs.
        ErasureUnderWayError: An erasure is running.
        GrowthFaultyError: A copy differs; nothing was switched.
        KafkaUnavailableError: No broker responds.
    """
    if growth is not None and growth.step in ("deleting", "undoing"):
        option = "--finish" if growth.step == "deleting" else "--undo"
        raise GrowthRefusedError(f"`varve {COMMAND} {option}` did not run to its end: run it again first")
    if growth is not None and growth.step == "ready":
        # The previous run may have been killed before its last step.
        await release(new.settings(settings), growth.starts)
        count = await copy_late(settings, growth)
        notice(f"{new.prefix}: ready; copied {counted(count, 'record')} that arrived in the old topics since")
        return growth
    before = old.settings(settings)
    partitions = await check_topics(before)
    if partitions != old.partitions:
        raise GrowthRefusedError(
            f"the topics have {partitions} partitions, and VARVE_KAFKA__PARTITIONS is {old.partitions}: correct it first"
        )
    await require_free_names(before, new, growth)
    guard = partial(require_applied, before)
    async with resetting(before, list(STAGES.values()), command=COMMAND, guard=guard, notice=notice) as reset:
        await require_no_erasure(before, "a growth of the topics")
        await store.checkpoint_of(0)
        await require_whole_generations(before, reset.offsets)
        growth = Growth(
            step="copying",
            old_prefix=old.prefix,
            old_partitions=old.partitions,
            new_prefix=new.prefix,
            new_partitions=new.partitions,
            groups=await group_states(before, reset.offsets, known={} if growth is None else growth.groups),
        )
        await write_journal(before, growth)
        # The workers of the old topics keep waiting.
        return await _fill(settings, growth, reset, store=store, notice=notice)


async def _fill(settings: Settings, growth: Growth, reset: StageReset, *, store: MemoryStore, notice: Notice) -> Growth:
    """Creates and fills the new topics while the stages are stopped, and releases their workers.

    Raises:
        GrowthFaultyError: A copy differs; nothing was switched.
    """
    old, new = growth.old, growth.new
    before, after = old.settings(settings), new.settings(settings)
    ends = {spec.name: by_number(await reset.offsets.end_offsets([topic_in(spec, old)])) for spec in GROWN}
    handled = handled_offsets(growth, ends)
    for stage in STAGES.values():
        await reset.begin(stage, places_at(topic_in(stage.source, old), handled[stage.source.name]))
    await delete_topics(topics_of(new), before.kafka)
    await _create(after)
    folder = before.data / "growth"
    shutil.rmtree(folder, ignore_errors=True)
    cut = await cut_logs(before, reset.offsets)
    filler = TopicFiller(
        before,
        old=old,
        new=new,
        copies=Copies(old=old, new=new, keyring=Keyring.of(settings.signing)),
        offsets=reset.offsets,
        topics=await topic_partitions(before.kafka),
        cut=cut,
        folder=folder,
        notice=notice,
    )
    filled = await filler.fill(handled, ends)
    await filler.verify()
    notice("the copies are equal to what was read")
    shutil.rmtree(folder, ignore_errors=True)
    await set_starts(after, filled.starts, store=store, reads=await further_readers(before, reset.offsets))
    await delete_before({TopicPartition(after.topic(name), number): 1 for name in cut for number in range(new.partitions)}, after.kafka)
    await set_topic_config(after.topic(MESSAGES.name), broker_config(MESSAGES, after.kafka), after.kafka)
    filled_growth = growth.model_copy(update={"step": "ready", "starts": filled.starts, "ends": ends})
    await write_journal(settings, filled_growth)
    await release(after, filled.starts)
    return filled_growth


async def copy_late(settings: Settings, growth: Growth) -> int:
    """Copies the records that were appended to the old topics since the growth. A record that a killed call copied is copied again.

    Returns:
        The number of copied records.
    """
    old, new = growth.old, growth.new
    before = old.settings(settings)
    copies = Copies(old=old, new=new, keyring=Keyring.of(settings.signing))
    count, ends = 0, dict(growth.ends)
    async with KafkaOffsets(kafka=before.kafka) as offsets, Producer(kafka=before.kafka) as producer:
        for spec in LATE:
            topic = topic_in(spec, old)
            now = by_number(await offsets.end_offsets([topic]))
            for number, (begin, end) in enumerate(zip(ends[spec.name], now, strict=True)):
                async with aclosing(read_range(TopicPartition(topic, number), before.kafka, begin=begin, end=end)) as groups:
                    async for records in groups:
                        await producer.send_in_batches([copy for each in records for copy in copies.late(ConsumedRecord.of(each), spec)])
                        count += len(records)
            ends[spec.name] = now
    if ends != growth.ends:
        await write_journal(settings, growth.model_copy(update={"ends": ends}))
    return count


async def finish(settings: Settings, growth: Growth, *, notice: Notice = lambda line: None) -> None:
    """Deletes the old topics, after the last records appended to them are copied.

    Args:
        settings: The settings of either set.
        growth: The growth that has begun.
        notice: Called with a line of progress.

    Raises:
        GrowthRefusedError: The growth is not ready.
        GroupInUseError: A worker of the old topics runs.
        KafkaUnavailableError: No broker responds.
    """
    if growth.step not in ("ready", "deleting"):
        raise GrowthRefusedError(f"the new topics are not filled: run `varve {COMMAND} --partitions {growth.new_partitions}` first")
    old, kafka = growth.old, settings.kafka
    if growth.step == "ready":
        await ConsumerGroups(kafka=kafka).require_empty([each.group(old.prefix) for each in STAGES.values()])
        count = await copy_late(settings, growth)
        notice(f"copied {counted(count, 'record')} that arrived in the old topics since")
        await write_journal(settings, growth.model_copy(update={"step": "deleting"}))
    generations = [name for name in await topic_partitions(kafka) if name.startswith(f"{old.prefix}extraction.")]
    deleted = await delete_topics([*topics_of(old), *generations], kafka)
    notice(f"{len(deleted)} old topics deleted")
    await delete_topics([journal_topic(growth.new)], kafka)


async def undo(settings: Settings, growth: Growth, *, notice: Notice = lambda line: None) -> None:
    """Deletes the new topics, and lets the workers of the old ones continue where they stopped.

    Args:
        settings: The settings of either set.
        growth: The growth that has begun.
        notice: Called with a line of progress.

    Raises:
        GrowthRefusedError: A stage has processed records of the new topics, which would be lost, or ``finish`` has begun.
        GroupInUseError: A worker runs.
        KafkaUnavailableError: No broker responds.
    """
    if growth.step == "deleting":
        raise GrowthRefusedError(f"the old topics are being deleted: run `varve {COMMAND} --finish` again")
    new = growth.new
    groups = ConsumerGroups(kafka=settings.kafka)
    stages = list(STAGES.values())
    await groups.require_empty([each.group(prefix) for each in stages for prefix in (growth.old.prefix, new.prefix)])
    if growth.step == "ready":
        await require_unused(settings, growth)
    await write_journal(settings, growth.model_copy(update={"step": "undoing"}))
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        for stage in stages:
            topic, group = topic_in(stage.source, growth.old), stage.group(growth.old.prefix)
            if not is_noted(await offsets.commits(group, [topic])):
                continue
            states = growth.groups.get(stage.name, [])
            restored = {TopicPartition(topic, each.partition): OffsetAndMetadata(each.offset, each.metadata) for each in states}
            # A partition without an offset was never read: its stage begins at the log's beginning.
            unread = {TopicPartition(topic, number): OffsetAndMetadata(0, "") for number in range(growth.old_partitions)}
            await groups.commit(group, unread | restored)
    await delete_topics(topics_of(new), settings.kafka)
    await delete_topics([journal_topic(new)], settings.kafka)
    notice("the new topics are deleted; start the workers with the former settings")


async def _create(after: Settings) -> None:
    kafka = after.kafka
    # Copies keep the times at which the broker appended the messages. Afterwards the broker sets them again.
    config = {**broker_config(MESSAGES, kafka), "message.timestamp.type": "CreateTime"}
    await create_topic(after.topic(MESSAGES.name), config=config, kafka=kafka)
    await create_topics(after)
    for name in TABLES:
        await create_topic(STAGES[name].changelog(kafka.topic_prefix), config=changelog_config(kafka), kafka=kafka)
