"""``python -m benchmarks.timelines``: sizes of a timeline's state and stored memories under steady load, over the years."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from benchmarks.reports import benchmark_parser, write_report
from memory.records import Change, Contribution
from memory.schema import parse_schema
from memory.schema.model import EntityType
from memory.texts.text import estimate_tokens
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, from_bytes, to_bytes
from operators.entities.render import published_memories

_START: Final = datetime(2026, 1, 5, tzinfo=UTC)
_KEY: Final = "ann"
_TEXT: Final = "Ann met {name} in the harbour town, had a long talk about the boat that they repair together, and took the late train home."
_REPORTED_DAYS: Final = 182


def measure(*, years: int, a_day: int) -> dict[str, Any]:
    """Adds events day by day, and removes those that the timeline expires."""
    life = _life()
    state: EntityState | None = None
    alive: dict[str, int] = {}
    position = events = 0
    steps: list[dict[str, float]] = []
    spent = 0.0
    for day in range(years * 365):
        names = [f"e{day}-{number}" for number in range(a_day)]
        for sent in (_applied(names, day, position), _tick(day)):
            began = time.perf_counter()
            applied = apply_contribution(None if state is None else from_bytes(to_bytes(state)), sent, life)
            spent += time.perf_counter() - began
            state = applied.state
            expired = [each.id for _, each in applied.aged]
            if expired:
                position += 1
                state = apply_contribution(state, _released(expired, day, position), life).state
                alive = {name: tokens for name, tokens in alive.items() if name not in set(expired)}
        alive.update((name, estimate_tokens(_TEXT.format(name=name))) for name in names)
        events += len(names)
        position += 1
        if day % _REPORTED_DAYS == _REPORTED_DAYS - 1 and state is not None:
            published = published_memories(state, life, "bench", _KEY).values()
            steps.append(
                {
                    "years": round((day + 1) / 365, 2),
                    "events": events,
                    "events_in_store": len(alive),
                    "summaries_in_store": len(published),
                    "tokens_in_store": sum(alive.values()) + sum(estimate_tokens(each.content) for each in published),
                    "state_bytes": len(to_bytes(state)),
                    "us_per_contribution": round(spent / (2 * _REPORTED_DAYS) * 1e6, 1),
                }
            )
            spent = 0.0
    # In the same season: the numbers of weeks and months vary over the year.
    last, before = steps[-1], steps[len(steps) // 2 - 1]
    return {
        "events_a_day": a_day,
        "steps": steps,
        "tokens_ratio_last_to_half": round(last["tokens_in_store"] / before["tokens_in_store"], 3),
        "state_ratio_last_to_half": round(last["state_bytes"] / before["state_bytes"], 3),
    }


def _applied(names: list[str], day: int, position: int) -> Contribution:
    return _contribution(list(_changes(names, day)), day, position)


def _changes(names: list[str], day: int) -> Iterator[Change]:
    for number, name in enumerate(names):
        value = {"text": _TEXT.format(name=name), "importance": 0.5, "message_ids": [f"m-{name}"], "user": _KEY, "window_id": f"w-{day}"}
        event_time = _START + timedelta(days=day, minutes=number)
        yield Change(op="apply", property="life", source_id=name, value=dict(value), event_time=event_time)


def _released(names: list[str], day: int, position: int) -> Contribution:
    now = _START + timedelta(days=day)
    return _contribution([Change(op="release", property="life", source_id=name, event_time=now) for name in names], day, position)


def _tick(day: int) -> Contribution:
    return _contribution([], day, 0).model_copy(update={"kind": "tick"})


def _contribution(changes: list[Change], day: int, position: int) -> Contribution:
    return Contribution(
        tenant="bench",
        user=_KEY,
        entity_type="story",
        entity_key=_KEY,
        source="extractions/0",
        position=position,
        changes=changes,
        time=_START + timedelta(days=day, hours=12),
    )


def _life() -> EntityType:
    expression = {"Op": "TIME_COMPRESS", "EventType": "life_event"}
    properties = [{"PropertyName": "life", "PropertyValueType": "string", "AggregateExpression": expression}]
    types = {"EventTypes": [{"EventType": "life_event"}], "EntityTypes": [{"EntityType": "story", "Properties": properties}]}
    return parse_schema({"Name": "bench", **types}).entity_types[0]


def main() -> None:
    """Measures, prints and writes the report."""
    parser = benchmark_parser("timelines", __doc__)
    parser.add_argument("--years", type=int, default=8, help="years of events")
    parser.add_argument("--a-day", type=int, default=3, help="events per day")
    arguments = parser.parse_args()
    write_report(arguments.report, measure(years=arguments.years, a_day=arguments.a_day))


if __name__ == "__main__":
    main()
