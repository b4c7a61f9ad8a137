"""Levels of trust in the sources of memories (:mod:`memory.sources`). Pure.

A tenant's rules set a level for sources; a source without a level is ``normal`` and does not raise the level of a message. A message has
the lowest level of its sources, a memory the lowest level of its messages. A distrusted message counts as not said: a memory is distrusted
only if all its messages are.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from memory.records.base import Value
from memory.records.extraction import EntityPatch, Event, Extraction
from memory.records.limits import Time
from memory.records.trust import EntityTrust, TrustLevel
from memory.sources import SourceName, any_of_kind

LEVELS: Final[tuple[TrustLevel, ...]] = ("distrusted", "untrusted", "normal", "trusted")
"""Lowest first."""
MinTrust = Literal["normal", "trusted"]
"""A lowest level for a recall. Every recall leaves out distrusted memories."""
MAX_RULES: Final = 1000
"""Limit of the sources with their own level, per tenant."""


class TrustPolicy(BaseModel):
    """A tenant's levels of trust."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: dict[SourceName, TrustLevel] = Field(default_factory=dict, max_length=MAX_RULES)
    """Levels by source. A source without one is ``normal``."""
    entities_from: EntityTrust = "normal"
    """The lowest level of events and patches that change entities. ``untrusted`` lets untrusted ones change them, too."""


class WindowTrust(Value):
    """The levels of one window's results, as the events stage has published them."""

    levels: dict[str, TrustLevel] = Field(default_factory=dict)
    """By the id of an event or patch. Those that are missing are ``normal``."""
    entities_from: EntityTrust = "normal"
    since: Time | None = None
    """The time of the rules, if they distrust something."""
    changed_at: int = -1
    """The offset of the review that changed the levels. -1: they are those of the extraction."""

    def level(self, result_id: str) -> TrustLevel:
        """The level of an event or patch."""
        return self.levels.get(result_id, "normal")

    def feeds_entities(self, result_id: str) -> bool:
        """Whether an event or patch may change entities."""
        return at_least(self.level(result_id), self.entities_from)

    def of_results(self, ids: Collection[str]) -> "WindowTrust":
        """The levels of these events and patches only."""
        left = {each: level for each, level in self.levels.items() if each in ids}
        return self if len(left) == len(self.levels) else self.model_copy(update={"levels": left})


NO_RULES: Final = WindowTrust()


def at_least(level: TrustLevel, least: TrustLevel) -> bool:
    """Whether a level is ``least`` or higher."""
    return LEVELS.index(level) >= LEVELS.index(least)


def lowest(levels: Iterable[TrustLevel]) -> TrustLevel:
    """The lowest level; ``normal`` if there are none."""
    return min(levels, key=LEVELS.index, default="normal")


def level_of(names: Iterable[str], rules: Mapping[str, TrustLevel]) -> TrustLevel:
    """The level of a message with these sources."""
    if not rules:
        return "normal"
    found = (rules.get(name) or rules.get(any_of_kind(name)) for name in names)
    return lowest(each for each in found if each is not None)


def named_by(names: Iterable[str], rules: Collection[str]) -> bool:
    """Whether the sources of some rules include one of these, by name or as ``KIND:*``."""
    return any(name in rules or any_of_kind(name) in rules for name in names)


def trust_of(extraction: Extraction, policy: TrustPolicy, *, since: datetime | None = None) -> WindowTrust:
    """The levels of a window's events and patches.

    Args:
        extraction: The extraction of the window.
        policy: The tenant's levels.
        since: The time at which the policy was set.
    """
    if not policy.sources:
        return NO_RULES
    messages = extraction.message_ids
    of_message = {messages[index]: level_of(each.names, policy.sources) for each in extraction.sources or () for index in each.messages}
    levels: dict[str, TrustLevel] = {}
    results: Sequence[Event | EntityPatch] = (*extraction.events, *extraction.patches)
    for result in results:
        said = [each for name in result.message_ids if (each := of_message.get(name, "normal")) != "distrusted"]
        heard = [each for name in result.also_from or () if (each := of_message.get(name, "normal")) != "distrusted"]
        level = lowest((*said, *heard)) if said else "distrusted"
        if level != "normal":
            levels[result.id] = level
    if not levels:
        return NO_RULES
    is_distrusting = "distrusted" in levels.values()
    return WindowTrust(levels=levels, entities_from=policy.entities_from, since=since if is_distrusting else None)
