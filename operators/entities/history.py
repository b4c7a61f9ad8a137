"""Replays an entity's history steps, to show the entity as of a moment and as known at a moment. Pure.

Event time is when something was true; recorded time is when Varve learned it. A correction made today may be about last March.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.records import Change, Contribution, HistoryEntry
from memory.schema.model import EntityType
from memory.times import EPOCH, time_of_microseconds
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, from_bytes
from operators.entities.ticks import ages
from operators.llm.merging import apply_outcome

TypeOf = Callable[[Contribution], EntityType | None]
"""Returns the entity type under which a contribution was made; None if it is no longer known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The requested moment, on both time axes."""

    as_of: datetime | None = None
    """Upper bound of event time. Default: no bound."""
    known_at: datetime | None = None
    """Upper bound of recorded time. Default: no bound."""

    def knows(self, recorded_at: datetime) -> bool:
        """Whether something was recorded by then."""
        return self.known_at is None or recorded_at <= self.known_at

    def within(self, contribution: Contribution) -> Contribution | None:
        """The contribution reduced to changes up to ``as_of``; None if there are none. A model's answer counts at its own time."""
        if self.as_of is None or contribution.merged is not None:
            return contribution if self.as_of is None or contribution.time <= self.as_of else None
        changes = [each for each in contribution.changes if each.event_time <= self.as_of]
        return contribution.model_copy(update={"changes": changes}) if changes else None


@dataclass(frozen=True, slots=True)
class KnownStep:
    """A step, and since when it is known."""

    step: HistoryEntry
    recorded_at: datetime
    """At or after the time of the previous step of the same source."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """From where the steps that are kept can be applied."""

    steps: tuple[KnownStep, ...]
    """All later steps, in order."""
    state: EntityState | None = None
    """The entity before these steps; None: it did not exist."""
    made_under: Contribution | None = None
    """The contribution that names the entity's type, if there was one."""


def in_order(steps: Iterable[HistoryEntry]) -> list[KnownStep]:
    """Steps ordered by recorded time. Steps of one source keep their order, and those before a gap are left out."""
    by_source: defaultdict[str, list[HistoryEntry]] = defaultdict(list)
    for step in steps:
        by_source[step.contribution.source if step.number else ""].append(step)
    known = [KnownStep(each, _recorded(each)) for each in by_source.pop("", [])]
    for of_source in by_source.values():
        of_source.sort(key=lambda each: each.number)
        first = next((index for index in range(len(of_source) - 1, 0, -1) if _is_gap(of_source, index)), 0)
        latest = EPOCH
        for each in of_source[first:]:
            latest = max(latest, _recorded(each))
            known.append(KnownStep(each, latest))
    return sorted(known, key=lambda each: (each.recorded_at, not each.step.number, each.step.contribution.source, each.step.number))


def beginning(steps: Sequence[KnownStep], moment: Moment, *, earliest: bool = False) -> Beginning | None:
    """The place from which a replay can reach a moment.

    Args:
        steps: The result of :func:`in_order`.
        moment: The requested moment.
        earliest: Prefer the earliest place (most steps) to the latest (fewest steps).

    Returns:
        The place; None if the steps before the moment were removed and no remaining step has the entity's state before it.
    """
    lost: dict[str, int] = {}
    for step in steps:
        if step.step.number:
            lost[step.step.contribution.source] = min(step.step.number - 1, lost.get(step.step.contribution.source, step.step.number - 1))
    if earliest and not any(lost.values()):
        return Beginning(tuple(steps))
    best: EntityState | None = None
    made_under: Contribution | None = None
    for step in steps:
        if step.step.before is None:
            continue
        state = from_bytes(step.step.before.encode())
        if (
            _bridges(state, lost)
            and _is_of(state, moment)
            and (best is None or (_count(state) < _count(best) if earliest else _count(state) > _count(best)))
        ):
            best, made_under = state, step.step.contribution
    if best is None and any(lost.values()):
        return None
    return Beginning(tuple(each for each in steps if not _contains(best, each)), best, made_under)


class HistoryReplay:
    """Applies steps one by one, each reduced to the changes within a moment.

    Args:
        start: The place where the replay starts.
        moment: The requested moment.
        type_of: Returns the entity type under which a contribution was made.
    """

    def __init__(self, start: Beginning, moment: Moment, type_of: TypeOf) -> None:
        self._moment = moment
        self._type_of = type_of
        self._left_out_at: datetime | None = None
        self._outcomes: list[KnownStep] = []
        self.state = start.state
        """The entity so far; None if there is none."""
        self.entity_type = None if start.made_under is None else type_of(start.made_under)
        """The value after the last step; None: there was none, or it is unknown."""

    def take(self, known: KnownStep) -> None:
        """Applies a step, unless it does not belong to the moment."""
        contribution = known.step.contribution
        if not self._moment.knows(known.recorded_at):
            return
        if contribution.merged is not None:
            self._outcomes.append(known)
            return
        within = self._moment.within(contribution)
        if within is None or len(within.changes) < len(contribution.changes):
            self._left_out_at = self._left_out_at or known.recorded_at
        entity_type = self._type_of(contribution) if within is not None else None
        if within is not None and entity_type is not None:
            self.entity_type = entity_type
            self.state = apply_contribution(self.state, within, entity_type).state

    def finish(self, now: datetime) -> None:
        """Adopts the texts that models merged, and ages timelines to the moment.

        Skips an answer that may be based on events after the moment: the rule merges the text instead.

        Args:
            now: The moment to use if none was requested.
        """
        for known in self._outcomes:
            contribution = known.step.contribution
            entity_type = self._type_of(contribution)
            if contribution.merged is None or entity_type is None or self.state is None:
                continue
            if self._left_out_at is None or known.recorded_at < self._left_out_at:
                self.state = apply_outcome(self.state, contribution.merged, entity_type, contribution.generation).state
        if self.entity_type is not None and self.state is not None and ages(self.entity_type):
            time = min(each for each in (self._moment.as_of, self._moment.known_at, now) if each is not None)
            self.state = _aged(self.state, self.entity_type, time)


def _aged(state: EntityState, entity_type: EntityType, time: datetime) -> EntityState:
    """An entity with its timelines at a time: expired events are dropped."""
    tick = Contribution(tenant="-", entity_type=entity_type.name, entity_key="-", kind="tick", source="-", position=0, time=time)
    ticked = apply_contribution(state, tick, entity_type)
    released = [Change(op="release", property=name, source_id=event.id, event_time=time) for name, event in ticked.aged]
    if not released:
        return ticked.state
    return apply_contribution(ticked.state, tick.model_copy(update={"kind": "change", "changes": released}), entity_type).state


def _recorded(step: HistoryEntry) -> datetime:
    return step.contribution.recorded_at or EPOCH


def _is_gap(steps: Sequence[HistoryEntry], index: int) -> bool:
    return steps[index].number != steps[index - 1].number + 1


def _bridges(state: EntityState, lost: dict[str, int]) -> bool:
    """Whether a state has all that is not kept."""
    return all(state.steps.get(source, 0) >= number for source, number in lost.items())


def _contains(state: EntityState | None, known: KnownStep) -> bool:
    number = known.step.number
    return state is not None and 0 < number <= state.steps.get(known.step.contribution.source, 0)


def _is_of(state: EntityState, moment: Moment) -> bool:
    """Whether a state has nothing that does not belong to a moment."""
    return _is_by(state.last_time, moment.as_of) and _is_by(state.known, moment.known_at)


def _is_by(newest: int | None, time: datetime | None) -> bool:
    return newest is None or time is None or time_of_microseconds(newest) <= time


def _count(state: EntityState) -> int:
    return sum(state.steps.values())
