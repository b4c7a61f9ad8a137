"""Compares the timelines of a run with the log that they aged by."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING

from loadtest.answers import summary_of
from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import Memory
from operators.publishing import BY_EXTRACT
from operators.timeline.texts import MIN_EVENTS
from tests.chaos.memory_oracle import ExpectedMemory, stated_events
from tests.chaos.schema import STORY, TIMELINE
from tests.chaos.timeline_oracle import Timeline, TimelineEvent, TimelineOracle
from tests.chaos.topic_log import LogRecord
from tests.chaos.window_oracle import ExpectedWindow

if TYPE_CHECKING:
    from tests.chaos.verdict import Verdict

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMED = 20
"""Events that a summary names."""
_LEAST_WRITTEN = 0.5
"""One answer in twenty is none, and leaves the extract."""
_LONGEST_EXTRACT = 1500
"""Characters."""
_IN_FULL = " in full"


def timelines_of(tenant: str, windows: Iterable[ExpectedWindow], log: Iterable[LogRecord]) -> TimelineOracle:
    """The timelines of a tenant.

    Args:
        tenant: The tenant of the timelines.
        windows: Those that were extracted.
        log: The extractions topic.
    """
    events: dict[str, tuple[str, list[TimelineEvent]]] = {}
    for window in windows:
        for author in dict.fromkeys(window.authors):
            events[window.part_of(author)] = (author, [])
        for stated in stated_events(window):
            if stated.fact.event_type == "exercise":
                event, time = stated.event, _EPOCH + timedelta(milliseconds=stated.ms)
                events[stated.window][1].append(TimelineEvent(event.id, stated.window, time, event.content or "", event.message_ids))
    oracle = TimelineOracle(tenant=tenant, events=events)
    oracle.read(log)
    return oracle


def stories(tenant: str, oracle: TimelineOracle) -> dict[str, ExpectedMemory]:
    """The entities that have the timelines, by their ids."""
    memories = {}
    for user, timeline in oracle.timelines.items():
        name = entity_id(tenant, STORY, entity_key(user))
        story = f"{timeline.whole} event{'s' * (timeline.whole != 1)}{_IN_FULL}" if timeline.whole else ""
        memories[name] = ExpectedMemory(name, "entity", STORY, user, {"user": user, TIMELINE: story})
    return memories


def story_value(value: str) -> str:
    """The compared part of a timeline's overview. The summaries are compared separately."""
    first = value.partition("\n")[0]
    return first if first.endswith(_IN_FULL) else ""


def judge_timelines(verdict: "Verdict", oracle: TimelineOracle, observed: Sequence[Memory]) -> None:
    """Checks that each summarised event is in one summary, and that events expired when they had to.

    Args:
        verdict: Gets the damage.
        oracle: The timelines.
        observed: The summaries in the store.
    """
    verdict.summaries, verdict.expired, verdict.touched = len(observed), len(oracle.gone), len(oracle.touched)
    verdict.corrected = len(oracle.corrections)
    verdict.written = sum(map(is_by_model, observed))
    asked = sum(len(each.message_ids) >= MIN_EVENTS for each in observed)
    if verdict.written < asked * _LEAST_WRITTEN:
        verdict.problems.append(f"of {asked} summaries that a model had to write it wrote {verdict.written}")
    verdict.record("timelines", oracle.problems)
    verdict.lost += verdict.record("events that had to be let go, and were not", oracle.unsent())
    twice = [f"{name}: {times} times" for (name, _), times in oracle.touched.items() if times > 1]
    verdict.duplicated += verdict.record("events touched twice a day", twice)
    by_user: defaultdict[str, list[Memory]] = defaultdict(list)
    for each in observed:
        by_user[each.user or ""].append(each)
    wrong = [f"a summary of nobody: {user}" for user in by_user.keys() - oracle.timelines.keys()]
    for user, timeline in oracle.timelines.items():
        wrong += _problems_of(user, timeline, by_user[user])
    verdict.wrong_values += verdict.record("summaries that differ", wrong)


def is_by_model(summary: Memory) -> bool:
    """Whether the simulated LLM has written it."""
    return summary.properties["written_by"] != BY_EXTRACT


def _problems_of(user: str, timeline: Timeline, summaries: Sequence[Memory]) -> list[str]:
    problems = []
    left = {each.id: each for each in timeline.summarised}
    for summary in summaries:
        first, last = (date.fromisoformat(str(summary.properties[name])) for name in ("from", "to"))
        inside = sorted((each for each in left.values() if first <= each.time.date() <= last), key=lambda each: (each.time, each.id))
        named = inside[:_NAMED]
        expected = len(inside), [each.id for each in named], [name for each in named for name in each.message_ids]
        actual = summary.properties["event_count"], summary.properties["events"], summary.message_ids
        by_model = summary_of(each.text for each in named)
        content = by_model if is_by_model(summary) else "; ".join(_extract(named))
        if not summary.content.endswith(f"): {content}"):
            problems.append(f"{user}: {summary.content} does not say {content}")
        if actual != expected:
            problems.append(f"{user} {summary.properties['period']}: {actual} and not {expected}")
        left = {name: each for name, each in left.items() if each not in inside}
    if left:
        problems.append(f"{user}: {len(left)} events in no summary, such as {min(left)}")
    return problems


def _extract(named: Sequence[TimelineEvent]) -> list[str]:
    """The events that fit, of equal importance, and one at least."""
    lengths = accumulate(len(each.text) for each in named)
    return [each.text for number, (each, length) in enumerate(zip(named, lengths, strict=True)) if not number or length <= _LONGEST_EXTRACT]
