"""STRENGTH: memories fade unless they are recalled (MemoryBank).

*MemoryBank* (Zhong et al., 2023, section 2.3) follows the forgetting curve of Ebbinghaus: the retention of a memory is
``R = exp(-t / S)``. ``t`` is the time since the memory was made or last recalled. The strength ``S`` is 1 at first, and each recall adds 1.
The released code forgets at random, with the probability ``1 - R``. Here a memory expires when ``R`` is below a limit, so that a rebuild
gives the same memories. With ``Ranks``, recalls can rank faded memories last before they expire (:mod:`retrieval.relevance.fading`): the
operator then publishes how often and when each memory was recalled, as a memory that no recall finds.
"""

import math
from collections.abc import Iterator
from typing import Any, ClassVar, Final, cast

from pydantic import JsonValue

from memory.keys import entity_key_parts
from memory.records import Memory
from memory.schema.operator_specs import OperatorSpec, built_in
from memory.strengths import recalls_memory_id, written_recalls
from memory.times import time_of_microseconds
from operators.aging import AgedEvent, AgingOperator
from operators.operator import Configuration, Operand, State, Value
from operators.publishing import Owner, PublishingOperator

_RESERVE: Final = 2
"""The state has at most so many times ``Limit`` events: those above the limit wait until the next tick asks for their removal."""

_LIVE: Final = 0
_ASKED: Final = 1
"""The removal of the memory was asked for."""
_RETRACTED: Final = 2
"""The event was retracted in this contribution. A correction applies it again, with its strength."""

Entry = list[Any]
"""``[made, recalls, last, user, window id, status]`` of an event: the time of its message, how often it was recalled, the time of its last
recall or else ``made``."""
_MADE, _RECALLS, _LAST, _USER, _WINDOW, _STATUS = range(6)


class Strength(AgingOperator, PublishingOperator):
    """Lets memories expire whose retention is below a limit. The value is the number of memories that are left.

    The recalls stage reports an event at most once a day, so its strength grows at most once a day.

    Args:
        configuration: The schema's definition of the property.
    """

    spec: ClassVar[OperatorSpec] = built_in("STRENGTH")

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self._unit = configuration.span_us("Strength")
        self._ranks = configuration.flag("Ranks")
        self._life = round(self._unit * math.log(100 / configuration.whole("LeastRetention")))
        self._limit = configuration.whole("Limit")

    def apply(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.apply`. Above the limit, the weakest memories are asked to expire with the next tick."""
        fields = operand.fields
        made = fields["said_at"]
        entries = _entries(state)
        known = entries.get(operand.source_id)
        if known is not None and known[_STATUS] == _RETRACTED and known[_MADE] == made:
            entry = [*known[:_STATUS], _LIVE]
        else:
            entry = [made, 0, made, fields["user"], fields["window_id"], _LIVE]
        entries = {**entries, operand.source_id: entry}
        if len(entries) > _RESERVE * self._limit:
            weakest = min(entries, key=lambda name: self._rank(name, entries[name]))
            entries = {name: each for name, each in entries.items() if name != weakest}
        return _state(state, entries)

    def retract(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.retract`. An event that has expired is unknown, and its retraction changes nothing."""
        entries = _entries(state)
        known = entries.get(operand.source_id)
        if known is None:
            return state
        if known[_RECALLS]:
            return _state(state, {**entries, operand.source_id: [*known[:_STATUS], _RETRACTED]})
        return _without(state, [operand.source_id])

    def prune(self, state: State, newest: int, newest_local: int | None = None) -> State | None:
        """See :meth:`Operator.prune`: drops what the contribution retracted and did not apply again."""
        retracted = [name for name, each in _entries(state).items() if each[_STATUS] == _RETRACTED]
        return _without(state, retracted) if retracted else state

    def value(self, state: State) -> Value:
        """The number of memories that have not expired."""
        return len(_entries(state))

    def memories(self, state: State, owner: Owner) -> Iterator[Memory]:
        """See :meth:`PublishingOperator.memories`: with ``Ranks``, the recalls of all memories."""
        entries = {name: each for name, each in _entries(state).items() if each[_STATUS] != _RETRACTED}
        if not self._ranks or not entries:
            return
        values = entity_key_parts(owner.key)
        newest = time_of_microseconds(max(int(each[_MADE]) for each in entries.values()))
        recalled = {name: (int(each[_RECALLS]), int(each[_LAST])) for name, each in sorted(entries.items()) if each[_RECALLS]}
        properties: dict[str, JsonValue] = {
            **dict(zip(owner.entity_type.key_names, values, strict=False)),
            **written_recalls(self._unit, recalled),
        }
        yield Memory(
            id=recalls_memory_id(owner.tenant, owner.entity_type.name, owner.key, owner.property_name, owner.generation),
            tenant=owner.tenant,
            user=dict(zip(owner.entity_type.keys, values, strict=False)).get("user"),
            kind="summary",
            type=owner.entity_type.name,
            content="How often memories were recalled.",
            properties=properties,
            event_time=newest,
            entity_key=owner.key,
            generation=owner.generation,
            version=sum(count for count, _ in recalled.values()),
            # No recall finds it.
            expires_at=newest,
        )

    def advance(self, state: State, now: int) -> State:
        """See :meth:`AgingOperator.advance`."""
        clock = self.clock(state)
        return state if clock is not None and clock >= now else {**state, "clock": now}

    def due(self, state: State) -> int | None:
        """See :meth:`AgingOperator.due`."""
        waiting = _waiting(state)
        if len(waiting) > self._limit:
            return min(int(each[_LAST]) for each in waiting.values())
        return min((self._expires(each) for each in waiting.values()), default=None)

    def touch(self, state: State, source_id: str, time: int) -> State:
        """See :meth:`AgingOperator.touch`. A recall adds one to the strength."""
        entries = _entries(state)
        known = entries.get(source_id)
        if known is None or known[_LAST] >= time:
            return state
        made, recalls, _, *others = known
        return _state(state, {**entries, source_id: [made, recalls + 1, time, *others]})

    def ask(self, state: State) -> tuple[State, list[AgedEvent]]:
        """See :meth:`AgingOperator.ask`. Names what has faded, and the weakest above the limit."""
        clock = self.clock(state)
        waiting = _waiting(state)
        ranked = sorted(waiting, key=lambda name: self._rank(name, waiting[name]))
        beyond = ranked[: max(0, len(ranked) - self._limit)]
        faded = [name for name in ranked if clock is not None and self._expires(waiting[name]) <= clock]
        aged = dict.fromkeys([*beyond, *faded])
        if not aged:
            return state, []
        asked = {name: [*waiting[name][:_STATUS], _ASKED] for name in aged}
        return _state(state, _entries(state) | asked), [AgedEvent(name, waiting[name][_USER], waiting[name][_WINDOW]) for name in aged]

    def release(self, state: State, source_id: str, time: int) -> State:
        """See :meth:`AgingOperator.release`. The state stays, with no event at last: the entity still has the retractable changes."""
        after = self.advance(state, time)
        return _state(after, {name: each for name, each in _entries(after).items() if name != source_id})

    def clock(self, state: State) -> int | None:
        """See :meth:`AgingOperator.clock`."""
        return cast(int | None, state.get("clock"))

    def _expires(self, entry: Entry) -> int:
        """The time at which the retention falls to the limit: ``t = S * ln(1 / R)``."""
        return int(entry[_LAST] + (1 + entry[_RECALLS]) * self._life)

    def _rank(self, name: str, entry: Entry) -> tuple[int, str]:
        """Sorts the memory first that would expire first."""
        return self._expires(entry), name


def _entries(state: State | None) -> dict[str, Entry]:
    return {} if state is None else cast(dict[str, Entry], state["events"])


def _waiting(state: State) -> dict[str, Entry]:
    return {name: each for name, each in _entries(state).items() if each[_STATUS] == _LIVE}


def _state(state: State | None, entries: dict[str, Entry]) -> State:
    return {**(state or {}), "events": entries}


def _without(state: State | None, names: list[str]) -> State | None:
    entries = {name: each for name, each in _entries(state).items() if name not in names}
    return _state(state, entries) if entries else None
