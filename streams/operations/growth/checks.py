"""Conditions under which the topics may grow, and under which a growth may be undone."""

from control.generations.reading import generation_name, workers_of
from memory.topics import CONTRIBUTIONS, EXTRACTIONS, MESSAGES
from runtime.kafka import KafkaOffsets
from runtime.kafka.parked_note import ParkedNote
from runtime.kafka.topics import topic_partitions
from runtime.settings import Settings
from streams.errors import GrowthRefusedError
from streams.operations.growth.group_offsets import generation_names, places_at
from streams.operations.growth.journal import Growth
from streams.operations.growth.layout import Layout, topic_in, topics_of
from streams.stages.catalog import STAGES


async def require_free_names(settings: Settings, new: Layout, growth: Growth | None) -> None:
    """Checks that no topic of the new set exists, unless a growth has begun.

    Raises:
        GrowthRefusedError: One exists.
    """
    known = await topic_partitions(settings.kafka)
    there = [name for name in topics_of(new) if name in known]
    if there and growth is None:
        raise GrowthRefusedError(f"{there[0]} exists already, and no growth has made it: give --prefix another prefix")


async def require_applied(settings: Settings) -> None:
    """Checks that the entities stage has applied all contributions.

    Raises:
        GrowthRefusedError: It has unread records.
    """
    stage = STAGES["entities"]
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        lag = sum((await offsets.lag(stage.group(settings.kafka.topic_prefix), [settings.topic(CONTRIBUTIONS.name)])).values())
    if lag:
        raise GrowthRefusedError(
            f"entities has {lag} unread records: stop sessions and extraction first, let events and entities catch up (`varve status`), "
            "then stop them, and run the command again"
        )


async def require_whole_generations(settings: Settings, offsets: KafkaOffsets) -> None:
    """Checks that second workers of a generation have read as far as the live ones: their windows would be extracted again.

    Raises:
        GrowthRefusedError: One has not.
    """
    topic = settings.topic(STAGES["extraction"].source.name)
    live = await offsets.committed_offsets(workers_of(settings, None), [topic])
    for name in sorted(await generation_names(settings)):
        commits = await offsets.commits(workers_of(settings, name), [topic])
        is_behind = any(each.offset < live.get(place, 0) for place, each in commits.items())
        if is_behind or ParkedNote.sum([ParkedNote.read(each.metadata) for each in commits.values()]).count:
            raise GrowthRefusedError(f"generation {generation_name(name)} lacks windows: let its worker catch up, or drop the generation")


async def cut_logs(settings: Settings, offsets: KafkaOffsets) -> list[str]:
    """The topics whose logs have lost their beginnings, which replays refuse: retention has removed messages.

    Raises:
        GrowthRefusedError: ``extractions`` is one of them.
    """
    found = [spec.name for spec in (MESSAGES, EXTRACTIONS) if any((await offsets.beginning_offsets([settings.topic(spec.name)])).values())]
    if EXTRACTIONS.name in found:
        raise GrowthRefusedError(f"{settings.topic(EXTRACTIONS.name)} no longer begins at offset 0: restore the topic first")
    return found


async def require_unused(settings: Settings, growth: Growth) -> None:
    """Checks that no stage has processed records of the new topics.

    Raises:
        GrowthRefusedError: One has; the old topics lack the result.
    """
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        for stage in STAGES.values():
            found = await offsets.committed_offsets(stage.group(growth.new.prefix), [topic_in(stage.source, growth.new)])
            if any(
                found.get(place, start) > start
                for place, start in places_at(topic_in(stage.source, growth.new), growth.starts[stage.source.name]).items()
            ):
                raise GrowthRefusedError(
                    f"{stage.name} has processed records of the new topics, which the old ones lack: continue with the new topics"
                )
