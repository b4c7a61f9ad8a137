"""What a generation is called: in messages, in files, and as part of its workers' consumer group."""

from typing import Final

from memory.topics import WINDOWS
from runtime.kafka.groups import stage_group
from runtime.settings import Settings

FIRST: Final = "-"
"""Stands for the first generation, whose name is empty, where a name is needed."""
EXTRACTION: Final = "extraction"
"""The stage whose workers make generations."""


def generation_name(generation: str) -> str:
    """A generation's name in messages and as a consumer group's suffix, where an empty one will not do."""
    return generation or FIRST


def generation_named(name: str) -> str:
    """The generation that a name means which somebody has written."""
    return "" if name == FIRST else name


def workers_of(settings: Settings, generation: str | None) -> str:
    """The consumer group of the workers that make a generation beside the live ones; None: of the live ones."""
    return stage_group(settings.kafka.topic_prefix, EXTRACTION, suffix="" if generation is None else generation_name(generation))


def windows_topic(settings: Settings) -> str:
    """The name on the broker of what they read."""
    return settings.topic(WINDOWS.name)
