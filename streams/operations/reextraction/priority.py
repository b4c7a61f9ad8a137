"""Priority of live traffic: a re-extraction waits while a live stage has a backlog."""

from collections.abc import Mapping
from typing import Final

from runtime.kafka import ConsumerGroups, KafkaOffsets
from runtime.settings import Settings
from streams.stages.catalog import STAGES

LARGEST_BACKLOGS: Final[Mapping[str, int]] = {"extraction": 100, "events": 2000, "entities": 2000, "index": 2000}
"""The number of records above which a re-extraction waits for the stage. Its results pass through all stages but the first."""


async def busy_stage(settings: Settings, offsets: KafkaOffsets) -> str | None:
    """The first live stage whose backlog is too large, with its number of records; None if there is none.

    A stage without workers is left out: it would make the re-extraction wait forever.

    Args:
        settings: The settings.
        offsets: A started reader of offsets.

    Raises:
        KafkaUnavailableError: If no broker responds.
    """
    for name, most in LARGEST_BACKLOGS.items():
        stage = STAGES[name]
        group, topic = stage.group(settings.kafka.topic_prefix), settings.topic(stage.source.name)
        backlog = sum((await offsets.lag(group, [topic])).values())
        if backlog > most and (await ConsumerGroups(kafka=settings.kafka).members([group]))[group]:
            return f"{name} ({backlog:,} records)"
    return None
