"""Sets where the workers of a generation start."""

from datetime import datetime

from runtime.generations.names import windows_topic, workers_of
from runtime.kafka import ConsumerGroups, KafkaOffsets
from runtime.settings import Settings


async def set_start(settings: Settings, generation: str, *, since: datetime | None) -> None:
    """Sets where the workers of a generation start.

    Args:
        settings: The settings in force.
        generation: The generation; empty: the first.
        since: Windows that closed at this moment or later (aware; wall clock). None: the workers go on where they were, or start at the
            beginning of the windows.

    Raises:
        GroupInUseError: If a worker of it runs already.
        KafkaUnavailableError: If no broker answers.
    """
    groups = ConsumerGroups(kafka=settings.kafka)
    group = workers_of(settings, generation)
    if since is None:
        # A group that has committed nothing has lost what lies before the log's beginning; this one was never to see it.
        async with KafkaOffsets(kafka=settings.kafka) as offsets:
            known = await offsets.committed_offsets(group, [windows_topic(settings)])
            begins = await offsets.beginning_offsets([windows_topic(settings)])
        await groups.commit(group, {partition: begin for partition, begin in begins.items() if begin and partition not in known})
        return
    await groups.require_empty([group])
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        await groups.commit(group, await offsets.offsets_since([windows_topic(settings)], since))
