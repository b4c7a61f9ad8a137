"""TIME_COMPRESS: an entity type's property that is a topic timeline (VikingMem 3.2)."""

from typing import Any, ClassVar, Final, cast

from memory.schema.operator_specs import OperatorSpec, built_in
from memory.schema.time_window import TimeWindow
from memory.text import shortened
from operators.aging import AgedEvent, AgingOperator
from operators.errors import RefusedChangeError
from operators.operator import Configuration, Operand, State
from operators.timeline.digest import count_of, present
from operators.timeline.timeline import Aging, Timeline, TimelineEvent, released, touched

MAX_TEXT: Final = 300
"""Characters of an event that a timeline keeps."""
MAX_MESSAGES: Final = 8
"""Messages of an event that a timeline names."""
_SHOWN_PERIODS: Final = 12


class TimeCompress(AgingOperator):
    """Keeps what is recent, summarises what is older, and lets go what is summarised and not recalled.

    Args:
        configuration: What the schema says of the property.
    """

    spec: ClassVar[OperatorSpec] = built_in("TIME_COMPRESS")

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        quiet, keep = (cast(TimeWindow, configuration.parameters[name]).microseconds for name in ("Quiet", "Keep"))
        self._aging = Aging(quiet=quiet, keep=keep)

    def apply(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.apply`. An event of a summarised week joins its summary; a full timeline takes no more events."""
        changed = self._aging.apply(None if state is None else read(state), _event(operand))
        if changed is None:
            raise RefusedChangeError("timeline_full")
        return written(changed)

    def retract(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.retract`. Time does not go back: what is summarised stays so, without the event."""
        changed = None if state is None else self._aging.retract(read(state), _event(operand))
        if changed is None:
            raise RefusedChangeError("not_applied")
        return None if changed.is_empty else written(changed)

    def value(self, state: State) -> str:
        """How many events are whole, and what the newest periods are about."""
        timeline = read(state)
        lines = [f"{len(timeline.whole)} events in full"] if timeline.whole else []
        for period, digest in timeline.periods()[: -_SHOWN_PERIODS - 1 : -1]:
            named = present(digest)
            lines.append(f"{period.name}, {count_of(digest)} events{f': {named[0][1]}' if named else ''}")
        return "\n".join(lines)

    def advance(self, state: State, now: int) -> State:
        """See :meth:`AgingOperator.advance`."""
        return written(self._aging.advance(read(state), now))

    def due(self, state: State) -> int | None:
        """See :meth:`AgingOperator.due`."""
        return self._aging.due(read(state))

    def touch(self, state: State, source_id: str, time: int) -> State:
        """See :meth:`AgingOperator.touch`."""
        return written(touched(read(state), source_id, time))

    def ask(self, state: State) -> tuple[State, list[AgedEvent]]:
        """See :meth:`AgingOperator.ask`."""
        timeline, aged = self._aging.ask(read(state))
        return written(timeline), aged

    def clock(self, state: State) -> int:
        """See :meth:`AgingOperator.clock`."""
        return read(state).clock

    def release(self, state: State, source_id: str, time: int) -> State | None:
        """See :meth:`AgingOperator.release`."""
        timeline = released(self._aging.advance(read(state), time), source_id)
        return None if timeline.is_empty else written(timeline)


def read(state: State) -> Timeline:
    """The timeline that :func:`written` wrote."""
    return Timeline(
        clock=state["clock"],
        newest=state["newest"],
        through=state["through"],
        whole={
            event_id: TimelineEvent(
                id=event_id,
                time=time,
                rank=rank,
                text=text,
                message_ids=tuple(message_ids),
                user=user,
                window_id=window_id,
                touched=touched_at,
                is_asked=is_asked,
            )
            for event_id, (time, rank, text, message_ids, user, window_id, touched_at, is_asked) in state["whole"].items()
        },
        digests=state["digests"],
    )


def written(timeline: Timeline) -> dict[str, Any]:
    """A timeline as JSON carries it."""
    return {
        "clock": timeline.clock,
        "newest": timeline.newest,
        "through": timeline.through,
        "whole": {
            each.id: [each.time, each.rank, each.text, list(each.message_ids), each.user, each.window_id, each.touched, each.is_asked]
            for each in timeline.whole.values()
        },
        "digests": timeline.digests,
    }


def _event(operand: Operand) -> TimelineEvent:
    fields = cast(dict[str, Any], operand.value)
    return TimelineEvent(
        id=operand.source_id,
        time=operand.time,
        rank=round(fields["importance"] * 1000),
        text=shortened(fields["text"], MAX_TEXT),
        message_ids=tuple(fields["message_ids"][:MAX_MESSAGES]),
        user=fields["user"],
        window_id=fields["window_id"],
    )
