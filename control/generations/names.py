"""Names of generations, in messages, in files, and in their workers' consumer groups."""

from typing import Final

from memory.topics import WINDOWS
from runtime.kafka.groups import stage_group
from runtime.settings import Settings

FIRST: Final = "-"
"""Name for the first generation where its empty name cannot be used."""
EXTRACTION: Final = "extraction"
"""The stage whose workers build generations."""


def generation_name(generation: str) -> str:
    """The name of a generation in messages and as suffix of a consumer group."""
    return generation or FIRST


def generation_named(name: str) -> str:
    """The generation for a name from :func:`generation_name`."""
    return "" if name == FIRST else name


def workers_of(settings: Settings, generation: str | None) -> str:
    """The consumer group of a generation's second workers; None: of the live workers."""
    return stage_group(settings.kafka.topic_prefix, EXTRACTION, suffix="" if generation is None else generation_name(generation))


def windows_topic(settings: Settings) -> str:
    """The workers' input topic, by its name on the broker."""
    return settings.topic(WINDOWS.name)
