"""The events and entities that must exist in the end: computed from the windows, under the education scenario."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, cast

from pydantic import JsonValue

from memory.ids import entity_id, event_id
from memory.keys import entity_key
from tests.chaos.correction_oracle import CorrectionOracle
from tests.chaos.utterances import Fact, fact_in, goal_in
from tests.chaos.window_oracle import ExpectedWindow


@dataclass(frozen=True, slots=True)
class ExpectedMemory:
    """A memory that must be in the store, without the fields that the oracle does not compute."""

    id: str
    kind: str
    type: str
    user: str
    properties: dict[str, JsonValue]
    content: str | None = None
    """An event's; an entity's sentence follows from its values."""
    message_ids: tuple[str, ...] = ()
    """An event's."""


@dataclass(frozen=True, slots=True)
class StatedEvent:
    """An event that a message states."""

    event: ExpectedMemory
    window: str
    """The window of its extraction: one user's part of a window with messages of several users."""
    fact: Fact
    ms: int
    """When, in milliseconds since 1970."""


@dataclass(slots=True)
class _Exercises:
    scores: list[Fraction] = field(default_factory=list)
    minutes: list[Fraction] = field(default_factory=list)
    difficulties: list[int] = field(default_factory=list)
    misconceptions: list[str] = field(default_factory=list)
    breakthroughs: int = 0
    goals: list[str] = field(default_factory=list)

    def add(self, fact: Fact, text: str) -> None:
        if fact.event_type == "exercise":
            self.scores.append(Fraction(str(fact.properties["score"])))
            self.minutes.append(Fraction(str(fact.properties["minutes"])))
            self.difficulties.append(int(fact.properties["difficulty"]))
        if fact.event_type == "misconception":
            self.misconceptions.append(text)
        self.breakthroughs += fact.event_type == "breakthrough"

    def values(self) -> dict[str, JsonValue]:
        """Property values by name; those without a source are left out."""
        count = len(self.scores)
        values: dict[str, JsonValue] = {}
        if count:
            values |= {
                "exercises": count,
                "points": float(sum(self.scores)),
                "accuracy": float(sum(self.scores) / count),
                "minutes": float(sum(self.minutes)),
                "fastest_minutes": float(min(self.minutes)),
                "solved": count,
                "hardest": max(self.difficulties),
            }
        counted = {"misconceptions": len(self.misconceptions), "breakthroughs": self.breakthroughs}
        lines: dict[str, JsonValue] = {"goals": lines_value(self.goals)} if self.goals else {}
        if self.misconceptions:
            lines["weak_points"] = lines_value(self.misconceptions)
        return values | lines | {name: number for name, number in counted.items() if number}


_DAY = re.compile(r"^\d{4}-\d{2}-\d{2}: ")
_PROPERTIES = {
    "mastery": ("exercises", "points", "accuracy", "minutes", "fastest_minutes", "misconceptions", "weak_points"),
    "solved": ("solved", "hardest"),
    "learner_profile": ("exercises", "breakthroughs", "goals"),
    "study_day": ("exercises", "accuracy", "minutes"),
}


def expected_memories(
    tenant: str, windows: Iterable[ExpectedWindow], corrections: CorrectionOracle | None = None
) -> dict[str, ExpectedMemory]:
    """All memories of a tenant by id: an event for each message that states one, and the entities that aggregate them.

    Args:
        tenant: The tenant of the memories.
        windows: What was said.
        corrections: What stands of those by hand. An event that was invalidated stays to be seen, and no entity has it.
    """
    corrections = corrections or CorrectionOracle()
    memories: dict[str, ExpectedMemory] = {}
    entities: dict[tuple[str, tuple[tuple[str, str], ...]], _Exercises] = defaultdict(_Exercises)
    for window in windows:
        for author, text in zip(window.authors, window.texts, strict=True):
            if (goal := goal_in(text)) is not None:
                entities["learner_profile", (("user", author),)].goals.append(goal)
        for stated in stated_events(window):
            corrected = stated.fact.properties | cast(dict[str, Any], corrections.properties(stated.event.id))
            fact, event = replace(stated.fact, properties=corrected), replace(stated.event, properties=dict(corrected))
            memories[event.id] = event
            for name in _entities_of(fact, event.user, stated.ms) if corrections.is_valid(event.id) else ():
                entities[name].add(fact, event.content or "")
    for (entity_type, key), exercises in entities.items():
        values = exercises.values()
        properties: dict[str, JsonValue] = {**dict(key), **{name: values[name] for name in _PROPERTIES[entity_type] if name in values}}
        entity = entity_id(tenant, entity_type, entity_key(*(part for _, part in key)))
        memories[entity] = ExpectedMemory(entity, "entity", entity_type, dict(key)["user"], properties)
    return memories


def stated_events(window: ExpectedWindow) -> list[StatedEvent]:
    """The events of a window, in order. Each belongs to the author of its message, and is counted among the author's events."""
    stated: list[StatedEvent] = []
    counts: Counter[str] = Counter()
    for identity, author, text, ms in zip(window.message_ids, window.authors, window.texts, window.event_times_ms, strict=True):
        fact = fact_in(text)
        if fact is not None:
            part = window.part_of(author)
            event = ExpectedMemory(
                event_id(part, counts[author]), "event", fact.event_type, author, dict(fact.properties), text, (identity,)
            )
            stated.append(StatedEvent(event, part, fact, ms))
            counts[author] += 1
    return stated


def lines_value(lines: Iterable[str]) -> str:
    """Sorts the lines: concurrent sessions add them in any order. Of lines that were merged by rule, the days are left out."""
    return "\n".join(sorted(_DAY.sub("", line) for line in lines))


def _entities_of(fact: Fact, user: str, ms: int) -> Iterable[tuple[str, tuple[tuple[str, str], ...]]]:
    if fact.event_type == "relation":
        return
    point = str(fact.properties["knowledge_point"])
    by_point = (("user", user), ("knowledge_point", point))
    if fact.event_type in ("exercise", "misconception"):
        yield "mastery", by_point
    if fact.event_type == "exercise":
        yield "study_day", (("user", user), ("day", datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()))
        if fact.properties["correct"]:
            yield "solved", by_point
    if fact.event_type in ("exercise", "breakthrough"):
        yield "learner_profile", (("user", user),)
