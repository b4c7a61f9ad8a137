"""``python -m benchmarks.trees``: speed of the entities stage's work with and without TREE, TIERS and CLUSTER, and the size of a tree."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
from pydantic import JsonValue

from benchmarks.reports import benchmark_parser, write_report
from memory.records import Change, Contribution
from memory.schema import parse_schema
from memory.schema.model import EntityType
from memory.vectors import encode_vector, unit
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, to_bytes
from operators.entities.render import published_changes, published_memories, render
from operators.llm.merging import plan_questions

_START: Final = datetime(2026, 1, 5, tzinfo=UTC)
_KEY: Final = "ann"
_TEXT: Final = "Ann met {name} in the harbour town, had a long talk about the boat that they repair together, and took the late train home."
_TOPICS: Final = 40
_NOISE: Final = 0.9
"""Length of the part of a vector that is not its topic's."""
_PEOPLE: Final = 40
_PROPERTIES: Final = {"TIME_COMPRESS": "story", "TREE": "topics", "TIERS": "tier_sizes", "CLUSTER": "communities"}
"""The property of each operator."""
_PLAIN: Final = "TIME_COMPRESS"
_CASES: Final[dict[str, tuple[str, ...]]] = {
    "plain": (_PLAIN,),
    "tree": ("TREE",),
    "tiers": ("TIERS",),
    "cluster": ("CLUSTER",),
    "both": (_PLAIN, "TREE"),
    "with_tiers": (_PLAIN, "TIERS"),
    "with_cluster": (_PLAIN, "CLUSTER"),
    "all": (_PLAIN, "TREE", "TIERS", "CLUSTER"),
}
"""The operators of each measured entity type."""


def measure(*, events: int, dimension: int, batch: int, nodes: int) -> dict[str, Any]:
    """Measures everything.

    Args:
        events: Number of events.
        dimension: Length of the vectors.
        batch: Contributions of the entity in one batch of the stage. Once per batch, the entity is published and encoded.
        nodes: The tree's greatest number of nodes.

    Returns:
        ``steps``: for each quarter of the events, contributions per second of each entity type (:data:`_CASES`), and for the tree its
        nodes, memories and bytes. ``ratio``: both over plain, in the last quarter. ``ratios``: each type with a timeline and more over
        the type with a timeline alone, in the last quarter.
    """
    contributions = [_contribution(each) for each in _changes(events, dimension)]
    raws = [each.to_json() for each in contributions]
    types = {name: _type(nodes, operators) for name, operators in _CASES.items()}
    states: dict[str, EntityState | None] = dict.fromkeys(types)
    steps: list[dict[str, Any]] = []
    size = events // 4
    for quarter in range(4):
        step: dict[str, Any] = {"events": (quarter + 1) * size}
        for name, entity_type in types.items():
            began = time.process_time()
            states[name] = _run(states[name], entity_type, raws[quarter * size : (quarter + 1) * size], batch)
            step[f"{name}_per_second"] = round(size / (time.process_time() - began))
        state = states["tree"]
        if state is not None:
            step["nodes"] = len(state.properties["topics"][1]["nodes"])
            step["memories"] = len(published_memories(state, types["tree"], "bench", _KEY))
            step["state_bytes"] = len(to_bytes(state))
        steps.append(step)
    last = steps[-1]
    ratios = {
        name: round(last[f"{name}_per_second"] / last["plain_per_second"], 3)
        for name, operators in _CASES.items()
        if _PLAIN in operators and len(operators) > 1
    }
    return {"batch": batch, "steps": steps, "ratio": ratios["both"], "ratios": ratios}


def _run(state: EntityState | None, entity_type: EntityType, raws: list[bytes], batch: int) -> EntityState | None:
    """The work of the entities stage, without its input and output."""
    for start in range(0, len(raws), batch):
        before = state
        for raw in raws[start : start + batch]:
            state = apply_contribution(state, Contribution.from_json(raw), entity_type).state
        if state is not None:
            state = plan_questions(state, entity_type, has_llm=False).state
            render(state, entity_type, "bench", _KEY).to_json()
            for memory in published_changes(before, state, entity_type, "bench", _KEY)[0].values():
                memory.to_json()
            to_bytes(state)
    return state


def _changes(events: int, dimension: int) -> list[dict[str, JsonValue]]:
    random = np.random.default_rng(1)
    topics = [unit(random.normal(size=dimension).astype(np.float32)) for _ in range(_TOPICS)]
    values: list[dict[str, JsonValue]] = []
    for number in range(events):
        noise = unit(random.normal(size=dimension).astype(np.float32))
        vector = unit(topics[int(random.integers(_TOPICS))] + _NOISE * noise)
        values.append(
            {
                "text": _TEXT.format(name=f"e{number}"),
                "importance": number % 10 / 10,
                "message_ids": [f"m-{number}"],
                "user": _KEY,
                "window_id": f"w-{number}",
                "type": "turn",
                "session": "s",
                "properties": {
                    "subject": f"person {int(random.integers(_PEOPLE))}",
                    "relation": f"knows {number % 3}",
                    "object": f"person {int(random.integers(_PEOPLE))}",
                    "several": True,
                },
                "vector": encode_vector(vector),
            }
        )
    return values


def _contribution(value: dict[str, JsonValue]) -> Contribution:
    name = str(value["window_id"])
    number = int(name.removeprefix("w-"))
    time_ = _START + timedelta(minutes=number)
    whole = {key: value[key] for key in ("text", "importance", "message_ids", "user", "window_id")}
    detailed = {key: each for key, each in value.items() if key != "vector"} | {"keys": {"user": _KEY}, "date": time_.date().isoformat()}
    inputs = {"story": whole, "topics": value, "tier_sizes": value | {"said_at": 0}, "communities": detailed}
    changes = [
        Change(op="apply", property=each, source_id=f"event-{name}", value=dict(given), event_time=time_) for each, given in inputs.items()
    ]
    return Contribution(
        tenant="bench",
        user=_KEY,
        entity_type="talk",
        entity_key=_KEY,
        source="extractions/0",
        position=number,
        changes=changes,
        time=time_,
        schema_name="bench",
    )


def _type(nodes: int, operators: tuple[str, ...]) -> EntityType:
    parameters: dict[str, dict[str, Any]] = {"TREE": {"Nodes": nodes}, "TIERS": {"Topics": True}}
    properties = [
        {
            "PropertyName": _PROPERTIES[op],
            "PropertyValueType": "string",
            "AggregateExpression": {"Op": op, "EventType": "turn", **parameters.get(op, {})},
        }
        for op in operators
    ]
    schema = {
        "Name": "bench",
        "EventTypes": [{"EventType": "turn"}],
        "EntityTypes": [{"EntityType": "talk", "Keys": ["user"], "Properties": properties}],
    }
    return parse_schema(schema).entity_types[0]


def main() -> None:
    """Measures, prints and writes the report."""
    parser = benchmark_parser("trees", __doc__)
    parser.add_argument("--events", type=int, default=4_000, help="number of events")
    parser.add_argument("--dimension", type=int, default=384, help="length of the vectors")
    parser.add_argument("--batch", type=int, default=1, help="contributions of the entity in one batch")
    parser.add_argument("--nodes", type=int, default=256, help="the tree's greatest number of nodes")
    given = parser.parse_args()
    write_report(given.report, measure(events=given.events, dimension=given.dimension, batch=given.batch, nodes=given.nodes))


if __name__ == "__main__":
    main()
