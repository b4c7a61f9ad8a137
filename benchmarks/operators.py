"""``python -m benchmarks.operators``: speed of the operators in one process, for young and old entities."""

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from benchmarks.reports import benchmark_parser, write_report
from memory.records import Change, Contribution
from memory.schema import MemorySchema, parse_schema
from memory.schema.model import EntityType
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, from_bytes, to_bytes
from operators.operator import Operand
from operators.patches.approximate_span import best_approximate_span
from operators.registry import bound_operators

_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_SECOND: Final = 1_000_000
_PROPERTIES: Final = (
    ("COUNT", "int64", None),
    ("SUM", "float32", "minutes"),
    ("AVG", "float32", "minutes"),
    ("MAX", "float32", "minutes"),
    ("MIN", "float32", "minutes"),
)
_CHANGES_PER_CONTRIBUTION: Final = len(_PROPERTIES)
_SYLLABLES: Final = ("ba", "ker", "lin", "mo", "ra", "son", "ti", "ver", "en", "dal", "up", "os")
_FIELD: Final = " ".join(_SYLLABLES[n % 12] + _SYLLABLES[n * 7 % 11] + _SYLLABLES[n * n % 9] for n in range(4000))[:20_000]


def measure(*, applications: int, events: int, rounds: int) -> dict[str, Any]:
    """Measures everything.

    Args:
        applications: Applications of one event to one property, per round.
        events: Number of earlier events of the old entity.
        rounds: How often each is measured; the median counts.

    Returns:
        ``applications_per_second`` of the statistical operators alone; ``contributions_per_second`` of whole contributions, five changes
        each; ``with_codec_per_second``: applications with the entity's state decoded before and encoded after each contribution;
        ``flat_ratio_1m``: the time of an application to an entity of so many events over that to one of a thousandth of them, and
        ``state_bytes`` of both; ``eua_20k_ms``: the search for a SEARCH text of 200 characters, one in fifty of them wrong, in a field of
        20,000, and ``eua_20k_distant_ms`` for one with one in five wrong.
    """
    entity_type = _schema().entity_types[0]
    contributions = [_contribution(number) for number in range(applications // _CHANGES_PER_CONTRIBUTION)]
    young, old = _grown(entity_type, events // 1000), _grown(entity_type, events)
    tail = [_contribution(events + number) for number in range(2000)]
    return {
        "applications_per_second": round(applications / _median(rounds, lambda: _apply_alone(entity_type, applications))),
        "contributions_per_second": round(len(contributions) / _median(rounds, lambda: _apply_all(entity_type, contributions))),
        "with_codec_per_second": round(applications / _median(rounds, lambda: _apply_with_codec(entity_type, contributions))),
        "flat_ratio_1m": round(
            _median(rounds, lambda: _apply_all(entity_type, tail, old)) / _median(rounds, lambda: _apply_all(entity_type, tail, young)), 3
        ),
        "state_bytes": [len(to_bytes(young)), len(to_bytes(old))],
        "eua_20k_ms": round(_median(rounds, lambda: _search(wrong_each=50)) * 1000, 3),
        "eua_20k_distant_ms": round(_median(rounds, lambda: _search(wrong_each=5)) * 1000, 3),
    }


def _apply_alone(entity_type: EntityType, applications: int) -> None:
    operators = [bound.operator for _, bound in bound_operators(entity_type) if bound.operator is not None]
    for operator in operators:
        state = None
        for number in range(applications // len(operators)):
            state = operator.apply(state, Operand(number % 97 + 0.25, number * _SECOND, "event", number * _SECOND))


def _apply_all(entity_type: EntityType, contributions: list[Contribution], state: EntityState | None = None) -> None:
    for contribution in contributions:
        state = apply_contribution(state, contribution, entity_type).state


def _apply_with_codec(entity_type: EntityType, contributions: list[Contribution]) -> None:
    raw: bytes | None = None
    for contribution in contributions:
        raw = to_bytes(apply_contribution(from_bytes(raw) if raw else None, contribution, entity_type).state)


def _search(*, wrong_each: int) -> None:
    search = "".join("#" if index % wrong_each == wrong_each // 2 else each for index, each in enumerate(_FIELD[12_000:12_200]))
    field = _FIELD
    if best_approximate_span(field, search, max_distance=len(search) // 4) is None:
        raise AssertionError("the text is not found")


def _median(rounds: int, work: Callable[[], None]) -> float:
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def _grown(entity_type: EntityType, events: int) -> EntityState:
    state: EntityState | None = None
    for number in range(events):
        state = apply_contribution(state, _contribution(number), entity_type).state
    return state or EntityState()


def _contribution(number: int) -> Contribution:
    event_time = _START + timedelta(seconds=number)
    changes = [
        Change(
            op="apply",
            property=op.lower(),
            source_id=f"{number:08d}",
            value=None if op == "COUNT" else number * 7919 % 10_007 / 8,
            event_time=event_time,
            message_ids=[f"m{number:08d}"],
        )
        for op, _, _ in _PROPERTIES
    ]
    return Contribution(
        tenant="bench",
        user="ann",
        entity_type="log",
        entity_key="ann",
        source="extractions/0",
        position=number,
        changes=changes,
        time=event_time,
        schema_name="bench",
    )


def _schema() -> MemorySchema:
    properties = []
    for op, value_type, source in _PROPERTIES:
        expression = {"Op": op, "EventType": "workout"} | ({"EventPropertyName": source} if source else {})
        properties.append({"PropertyName": op.lower(), "PropertyValueType": value_type, "AggregateExpression": expression})
    return parse_schema(
        {
            "Name": "bench",
            "EventTypes": [{"EventType": "workout", "Properties": [{"PropertyName": "minutes", "PropertyValueType": "float32"}]}],
            "EntityTypes": [{"EntityType": "log", "Properties": properties}],
        }
    )


def main() -> None:
    """Measures, prints and writes the report."""
    parser = benchmark_parser("operators", __doc__)
    parser.add_argument("--applications", type=int, default=100_000, help="applications of one event to one property, per round")
    parser.add_argument("--events", type=int, default=1_000_000, help="number of earlier events of the old entity")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each; the report has the median")
    arguments = parser.parse_args()
    write_report(arguments.report, measure(applications=arguments.applications, events=arguments.events, rounds=arguments.rounds))


if __name__ == "__main__":
    main()
