"""TIME_COMPRESS: an entity type's property that is a topic timeline (VikingMem 3.2)."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import ClassVar, Final

from pydantic import JsonValue

from memory.dates.event_date import UNKNOWN_DATE
from memory.records import Memory
from memory.schema.operator_specs import OperatorSpec, built_in
from memory.texts.text import shortened
from operators.aging import AgedEvent, AgingOperator
from operators.applied_positions import last_positions
from operators.errors import RefusedChangeError
from operators.llm.llm_operator import Moment, Outcome, Prompt, Question, Settled
from operators.llm.summary_operator import SummaryOperator
from operators.operator import Configuration, Operand, State, Value
from operators.publishing import Owner, PublishingOperator
from operators.timeline.digest import Digest, count_of, present
from operators.timeline.periods import Period
from operators.timeline.summary import MAX_SUMMARY, summary
from operators.timeline.summary_prompt import summary_prompt
from operators.timeline.texts import PeriodTexts, digest_of
from operators.timeline.timeline import Aging, Timeline, TimelineEvent, released, touched

MAX_TEXT: Final = 300
"""Characters of an event that a timeline keeps."""
MAX_MESSAGES: Final = 8
"""Messages of an event that a timeline names."""
_LEAST_SUMMARY: Final = 200
_SHOWN_PERIODS: Final = 12
_NEVER: Final = -(2**63)
"""The clock of a timeline that has no event."""


class TimeCompress(AgingOperator, SummaryOperator[PeriodTexts], PublishingOperator):
    """Keeps recent events, summarises older ones, and removes summarised events that are not recalled.

    With ``Details``, the most important summarised events are not removed: an extract that no model wrote is found by fewer questions than
    its events, and takes as much space.

    The operator asks a model for each summary. Without a model, and until it has answered, the summary is an extract.

    Args:
        configuration: The schema's definition of the property.
    """

    spec: ClassVar[OperatorSpec] = built_in("TIME_COMPRESS")
    kept_of_question = ("of", "known", "clock")

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        quiet, keep = (configuration.span_us(name) for name in ("Quiet", "Keep"))
        self._aging = Aging(quiet=quiet, keep=keep, details=configuration.whole("Details"))

    def apply(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.apply`. An event of a summarised week joins its summary; of a full timeline the oldest event leaves."""
        return written(self._aging.apply(timeline_of(state), _event(operand)), PeriodTexts.of_state(state))

    def retract(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.retract`. Time does not go back: what is summarised stays so, without the event."""
        timeline = timeline_of(state)
        changed = None if timeline is None else self._aging.retract(timeline, _event(operand))
        if changed is None:
            raise RefusedChangeError("not_applied")
        return written(changed, PeriodTexts.of_state(state))

    def value(self, state: State) -> Value:
        """Number of whole events, and the subjects of the newest periods."""
        timeline = timeline_of(state)
        if timeline is None:
            return None
        lines = [f"{_events(len(timeline.whole))} in full"] if timeline.whole else []
        for period, digest in timeline.periods()[: -_SHOWN_PERIODS - 1 : -1]:
            named = present(digest)
            lines.append(f"{period.name}, {_events(count_of(digest))}{f': {named[0][1]}' if named else ''}")
        return "\n".join(lines)

    def advance(self, state: State, now: int) -> State:
        """See :meth:`AgingOperator.advance`."""
        timeline = timeline_of(state)
        return state if timeline is None else written(self._aging.advance(timeline, now + timeline.offset), PeriodTexts.of_state(state))

    def due(self, state: State) -> int | None:
        """See :meth:`AgingOperator.due`."""
        timeline = timeline_of(state)
        due = None if timeline is None else self._aging.due(timeline)
        return None if timeline is None or due is None else due - timeline.offset

    def touch(self, state: State, source_id: str, time: int) -> State:
        """See :meth:`AgingOperator.touch`."""
        timeline = timeline_of(state)
        return state if timeline is None else written(touched(timeline, source_id, time + timeline.offset), PeriodTexts.of_state(state))

    def ask(self, state: State) -> tuple[State, list[AgedEvent]]:
        """See :meth:`AgingOperator.ask`."""
        timeline = timeline_of(state)
        if timeline is None:
            return state, []
        asked, aged = self._aging.ask(timeline)
        return written(asked, PeriodTexts.of_state(state)), aged

    def clock(self, state: State) -> int | None:
        """See :meth:`AgingOperator.clock`."""
        timeline = timeline_of(state)
        return None if timeline is None else timeline.clock - timeline.offset

    def release(self, state: State, source_id: str, time: int) -> State | None:
        """See :meth:`AgingOperator.release`."""
        timeline = timeline_of(state)
        if timeline is None:
            return state
        return written(released(self._aging.advance(timeline, time + timeline.offset), source_id), PeriodTexts.of_state(state))

    def memories(self, state: State, owner: Owner) -> Iterator[Memory]:
        """See :meth:`PublishingOperator.memories`: the summaries. The same events give the same summaries, in any order.

        A timeline that keeps details has no extract of a period whose events are all separate memories: it would repeat them.
        """
        timeline, texts = timeline_of(state), PeriodTexts.of_state(state)
        if timeline is None:
            return
        times = sorted(each.time for each in timeline.whole.values()) if self._aging.details else []
        for period, digest in timeline.periods():
            whole = bisect_left(times, period.end) - bisect_left(times, period.start)
            if whole < count_of(digest) or texts.is_written(period, digest):
                found = summary(period, digest, texts, owner)
                if found is not None:
                    yield found

    def plan_questions(self, state: State, moment: Moment) -> Settled:
        """See :meth:`LLMOperator.plan_questions`. Of each period one question is open at a time."""
        timeline, texts = timeline_of(state), PeriodTexts.of_state(state)
        if not moment.has_llm and texts.is_empty:
            return Settled(state)
        periods, clock = ([], _NEVER) if timeline is None else (timeline.periods(), timeline.clock)
        planned, open_periods, taken_over, dropped = texts.planned(periods, moment, clock=clock)
        if planned == texts:
            return Settled(state)
        questions = tuple(_question(period, digest, moment, clock) for period, digest in open_periods)
        outcomes = tuple(Outcome(dict(planned.written[name]), name) for name in taken_over)
        return Settled(written(timeline, planned), questions=questions, outcomes=outcomes, dropped=tuple(dropped))

    def prompt(self, question: Question, *, subject: str) -> Prompt:
        """See :meth:`LLMOperator.prompt`."""
        return summary_prompt(subject=self._described(subject), question=question.content)

    def _texts_of(self, state: State | None) -> PeriodTexts:
        return PeriodTexts.of_state(state)

    def _with_texts(self, state: State | None, texts: PeriodTexts) -> State:
        return written(timeline_of(state), texts)

    def _valid_texts(self, state: State) -> PeriodTexts:
        timeline = timeline_of(state)
        return PeriodTexts.of_state(state).valid([] if timeline is None else timeline.periods())


def timeline_of(state: State | None) -> Timeline | None:
    """The timeline that :func:`written` wrote; None where there is none, as in a rebuild that has what was written of it alone."""
    if state is None or "clock" not in state:
        return None
    return Timeline(
        clock=state["clock"],
        newest=state["newest"],
        through=state["through"],
        whole={event_id: TimelineEvent(event_id, *fields) for event_id, fields in state["whole"].items()},
        digests=state["digests"],
        offset=state.get("offset", 0),
    )


def written(timeline: Timeline | None, texts: PeriodTexts) -> State | None:
    """A timeline and its texts as JSON carries them; None if both are empty."""
    texts_as_json = {name: dict(each) for name, each in (("texts", texts.written), ("asked", texts.asked)) if each}
    if timeline is None or timeline.is_empty:
        return texts_as_json or None
    return {
        **texts_as_json,
        "clock": timeline.clock,
        "newest": timeline.newest,
        "through": timeline.through,
        "whole": {name: list(each[1:] if each.offset else each[1:-1]) for name, each in timeline.whole.items()},
        "digests": timeline.digests,
        **({"offset": timeline.offset} if timeline.offset else {}),
    }


def _event(operand: Operand) -> TimelineEvent:
    fields = operand.fields
    return TimelineEvent(
        id=operand.source_id,
        time=operand.local,
        offset=operand.offset,
        rank=round(fields["importance"] * 1000),
        text=_dated(shortened(fields["text"], MAX_TEXT), fields.get("date")),
        message_ids=fields["message_ids"][:MAX_MESSAGES],
        user=fields["user"],
        window_id=fields["window_id"],
    )


def _dated(text: str, date: str | None) -> str:
    """An event's text with its date, unless that is the day on which it was said: the timeline's own day of a span is its middle."""
    if date is None or date in text:
        return text
    return f"{text.rstrip('. ')} ({'date unknown' if date == UNKNOWN_DATE.text else date})"


def _question(period: Period, digest: Digest, moment: Moment, clock: int) -> Question:
    named = present(digest)
    events: list[JsonValue] = [[time, text] for time, _, text in sorted((key[1], key[2], text) for key, text, _, _ in named)]
    length = sum(len(text) for _, text, _, _ in named)
    return Question(
        {
            "period": f"{period.level} {period.name} ({period.first_day} to {period.last_day})",
            "events": events,
            "others": count_of(digest) - len(named),
            "limit": max(_LEAST_SUMMARY, min(MAX_SUMMARY, length // 2)),
            "of": digest_of(period, digest),
            "known": last_positions(moment.sources),
            "clock": clock,
        },
        part=period.name,
    )


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count} events"
