"""Entities: contributions count once, whole, in any order across sources, and their state stays small."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Contribution
from memory.schema import parse_schema, to_json
from operators.applied_positions import MAX_HOLES
from operators.entities.apply import MAX_MESSAGE_IDS, apply_contribution, skip
from operators.entities.entity_state import EntityState, from_bytes, to_bytes
from operators.entities.render import render
from operators.errors import EntityStateError
from operators.patches.patch import MAX_RECENT
from tests.operators.sport import SCHEMA, START, change, contribution

LOG = SCHEMA.entity_types[0]
WEEK = SCHEMA.entity_types[1]
PROFILE = SCHEMA.entity_types[3]


def run(contributions: Sequence[Contribution], entity_type: Any = LOG) -> EntityState:
    state: EntityState | None = None
    for each in contributions:
        state = apply_contribution(state, each, entity_type).state
        state = from_bytes(to_bytes(state))
    assert state is not None
    return state


def values(state: EntityState, entity_type: Any = LOG, key: str = "run") -> dict[str, Any]:
    properties = render(state, entity_type, "acme", key).properties
    return {name: value for name, value in properties.items() if name not in entity_type.key_names}


def workout(name: str, minutes: int, *, op: str = "apply", day: float = 0) -> list[Any]:
    return [change(op, "sessions", name, day=day), change(op, "total_minutes", name, minutes, day=day)]


def test_a_contribution_is_applied_once() -> None:
    one = contribution(*workout("a", 30), position=4)
    state = run([one])
    for again in (one, contribution(*workout("b", 5), position=3)):
        applied = apply_contribution(state, again, LOG)
        assert not applied.changed
        assert applied.state is state
    assert values(run([one, contribution(*workout("b", 5), position=3, source="extractions/1")])) == {"sessions": 2, "total_minutes": 35}


def test_the_given_state_is_not_modified() -> None:
    state = run([contribution(*workout("a", 30)), contribution(change("apply", "name", "p", {"replace": "x"}), position=1)], LOG)
    before = to_bytes(state)
    apply_contribution(state, contribution(*workout("b", 9), *workout("a", 30, op="retract"), position=2), LOG)
    skip(state, contribution(position=3))
    assert to_bytes(state) == before


def test_a_skipped_position_can_still_arrive() -> None:
    first, second, third = (contribution(*workout(f"e{number}", 10), position=number) for number in range(3))
    state = run([first])
    skipped = skip(state, second)
    assert skipped.changed
    assert not skip(skipped.state, second).changed
    state = apply_contribution(skipped.state, third, LOG).state
    late = apply_contribution(state, second, LOG)
    assert late.changed
    assert not apply_contribution(late.state, second, LOG).changed
    assert to_bytes(late.state) == to_bytes(run([first, second, third]))


def test_holes_are_bounded_and_forgotten_ones_counted() -> None:
    state: EntityState | None = None
    for number in range(MAX_HOLES):
        state = skip(state, contribution(position=number)).state
    last = skip(state, contribution(position=MAX_HOLES))
    assert [(each.reason, each.count) for each in last.refused] == [("hole_forgotten", 1)]
    assert not apply_contribution(last.state, contribution(*workout("a", 1), position=0), LOG).changed
    assert apply_contribution(last.state, contribution(*workout("a", 1), position=1), LOG).changed


def test_a_tick_changes_nothing_that_does_not_age() -> None:
    state = run([contribution(*workout("a", 30))])
    tick = contribution(position=9).model_copy(update={"kind": "tick"})
    assert not apply_contribution(state, tick, LOG).changed
    assert not skip(state, tick).changed
    assert not apply_contribution(None, tick, LOG).changed


def test_an_operator_without_aging_receives_no_touch() -> None:
    state = run([contribution(*workout("a", 30))])
    touched = apply_contribution(state, contribution(change("touch", "total_minutes", "a", None), position=9), LOG)
    assert [each.reason for each in touched.refused] == ["not_aging"]
    assert values(touched.state) == values(state)


def test_only_the_bad_change_is_refused_and_counted() -> None:
    bad = [change("apply", "total_minutes", "a", "many"), change("apply", "total_minutes", "b", True), change("apply", "mood", "c", 3)]
    applied = apply_contribution(None, contribution(*bad, *workout("d", 10)), LOG)
    assert {(each.reason, each.count) for each in applied.refused} == {("not_a_number", 2), ("unknown_property", 1)}
    assert values(applied.state) == {"sessions": 1, "total_minutes": 10}
    assert render(applied.state, LOG, "acme", "run").message_ids == ["m-d"]


def test_an_entity_that_lost_everything_is_empty() -> None:
    state = run([contribution(*workout("a", 30)), contribution(*workout("a", 30, op="retract"), position=1)])
    assert state.empty
    assert state.properties == {}
    with pytest.raises(EntityStateError, match="empty"):
        render(state, LOG, "acme", "run")
    assert values(run([contribution(*workout("a", 30)), contribution(*workout("a", 30, op="retract"), *workout("a", 31), position=1)])) == {
        "sessions": 1,
        "total_minutes": 31,
    }


def test_a_state_of_an_older_schema_is_not_misread() -> None:
    state = run([contribution(*workout("a", 30))])
    data: Any = to_json(SCHEMA)
    data["EntityTypes"][0]["Properties"][2]["AggregateExpression"]["Op"] = "MAX"
    changed = parse_schema(data).entity_types[0]
    applied = apply_contribution(state, contribution(*workout("b", 5), position=1), changed)
    assert [each.reason for each in applied.refused] == ["operator_changed"]
    memory = render(applied.state, changed, "acme", "run")
    assert memory.properties == {"kind": "run", "sessions": 2}
    assert "total minutes: unknown" in memory.content


def test_patches_and_statistics_live_in_one_entity() -> None:
    def patched(name: str, field: str, replace: str, search: str = "") -> Any:
        return change("apply", field, name, {"search": search, "replace": replace})

    state = run(
        [
            contribution(patched("p1", "name", "An"), patched("p2", "likes", "tea"), change("apply", "sessions", "a")),
            contribution(patched("p3", "name", "Ann", "An"), patched("p4", "likes", "cake"), patched("p5", "age", "41"), position=1),
        ],
        PROFILE,
    )
    memory = render(state, PROFILE, "acme", "ann")
    assert memory.properties == {"user_id": "ann", "name": "Ann", "age": 41, "likes": ["tea", "cake"], "sessions": 1}
    assert memory.content == "profile of ann: name: Ann; age: 41; likes: tea, cake; sessions: 1"
    assert memory.user == "ann"
    refused = apply_contribution(state, contribution(patched("p6", "name", "Bob", "Robert Smith"), position=2), PROFILE).refused
    assert [(each.what, each.reason) for each in refused] == [("patch", "no_similar_span")]


def test_a_settled_patch_is_not_applied_twice() -> None:
    def patched(number: int, op: str = "apply", replace: str | None = None) -> Any:
        return change(op, "name", f"p{number}", {"replace": replace or f"fact {number}"}, day=number)

    state = run([contribution(patched(number), position=number) for number in range(MAX_RECENT + 3)], PROFILE)
    again = contribution(patched(0, "retract"), patched(0, replace="another fact"), position=99)
    applied = apply_contribution(state, again, PROFILE)
    assert [(each.what, each.reason, each.count) for each in applied.refused] == [("patch", "patch_settled", 2)]
    assert values(applied.state, PROFILE, "ann") == values(state, PROFILE, "ann")


@pytest.mark.parametrize("cause", ["correction", "retention", "drop"])
def test_a_settled_patch_is_removed_for_good(cause: Any) -> None:
    def patched(number: int, op: str = "apply") -> Any:
        return change(op, "name", f"p{number}", {"replace": f"fact {number}"}, day=number)

    count = MAX_RECENT + 3
    state = run([contribution(patched(number), position=number) for number in range(count)], PROFILE)
    removal = contribution(patched(0, "retract"), position=count).model_copy(update={"cause": cause})
    removed = apply_contribution(state, removal, PROFILE)
    assert removed.refused == ()
    assert "fact 0\n" not in str(values(removed.state, PROFILE, "ann"))
    assert not removed.state.empty
    rest = contribution(*(patched(number, "retract") for number in range(1, count)), position=count + 1).model_copy(update={"cause": cause})
    assert apply_contribution(removed.state, rest, PROFILE).state.empty


def test_a_settled_patch_that_is_applied_again_stays() -> None:
    def patched(number: int, search: str = "", op: str = "apply") -> Any:
        return change(op, "name", f"p{number}", {"search": search, "replace": f"fact {number}"}, day=number)

    steps = [patched(0), patched(1, "fact 0"), *(patched(number) for number in range(2, MAX_RECENT + 3))]
    state = run([contribution(each, position=number) for number, each in enumerate(steps)], PROFILE)
    reviewed = contribution(patched(1, "fact 0", "retract"), patched(1, "fact 0"), position=99).model_copy(update={"cause": "correction"})
    assert values(apply_contribution(state, reviewed, PROFILE).state, PROFILE, "ann") == values(state, PROFILE, "ann")


def test_an_entity_whose_text_is_removed_is_empty() -> None:
    def patched(number: int, search: str = "", op: str = "apply") -> Any:
        return change(op, "name", f"p{number}", {"search": search, "replace": f"fact {number}"}, day=number)

    first = [patched(0), patched(1, "fact 0")]
    state = run(
        [contribution(each, position=number) for number, each in enumerate([*first, *map(patched, range(2, MAX_RECENT + 2))])], PROFILE
    )
    taken_back = [
        patched(0, op="retract"),
        patched(1, "fact 0", "retract"),
        *(patched(each, op="retract") for each in range(2, MAX_RECENT + 2)),
    ]
    removal = contribution(*taken_back, position=99).model_copy(update={"cause": "drop"})
    removed = apply_contribution(state, removal, PROFILE)
    assert [(each.reason, each.count) for each in removed.refused] == [("patch_settled", 1)], "its line was replaced by a newer patch"
    assert removed.state.empty


def test_the_window_only_moves_forward() -> None:
    days = [0, 3, 6, 2, 9, -4, 5]
    steps = [contribution(*workout(f"e{day}", 10 + day, day=day), position=number) for number, day in enumerate(days)]
    assert values(run(steps, WEEK), WEEK, "ann") == {"sessions": 4, "total_minutes": 13 + 16 + 19 + 15}
    taken_back = contribution(*workout("e9", 19, op="retract", day=9), *workout("e0", 10, op="retract", day=0), position=50)
    assert values(run([*steps, taken_back], WEEK), WEEK, "ann") == {"sessions": 3, "total_minutes": 13 + 16 + 15}


def test_bytes_that_are_no_state_are_refused() -> None:
    for raw in (b"", b"[]", b"{}", b'{"format":2,"else":2}', b'{"format":1}', b"\xff"):
        with pytest.raises(EntityStateError, match="rebuild"):
            from_bytes(raw)


def test_a_state_does_not_grow_with_history() -> None:
    def size(count: int) -> int:
        made = (
            contribution(
                *workout(f"e{number:05}", number % 90, day=number / 50),
                change("apply", "longest_km", f"e{number:05}", (number * 7919 % 10007) / 8),
                position=number,
                source=f"extractions/{number % 4}",
            )
            for number in range(count)
        )
        return len(to_bytes(run(list(made))))

    assert size(3000) < 1.1 * size(300)
    state = run([contribution(*workout(f"e{number}", 1, day=number), position=number) for number in range(50)])
    assert render(state, LOG, "acme", "run").message_ids == [f"m-e{number}" for number in range(49, 49 - MAX_MESSAGE_IDS, -1)]


FED = {
    "sessions": None,
    "total_minutes": st.integers(0, 300),
    "average_km": st.floats(0, 100),
    "longest_km": st.floats(0, 100),
    "shortest_km": st.floats(0, 100),
}


@st.composite
def workouts(draw: st.DrawFn) -> dict[str, Any]:
    fed = {name: draw(strategy) if strategy is not None else None for name, strategy in FED.items() if draw(st.booleans())}
    return {"day": draw(st.integers(0, 20)), "fed": fed}


@st.composite
def logs(draw: st.DrawFn) -> tuple[dict[str, list[Contribution]], list[dict[str, Any]]]:
    """For each source its contributions in order, with windows extracted again, and the workouts that are left."""
    sources: dict[str, list[Contribution]] = {}
    left: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 3))):
        published: dict[str, list[dict[str, Any]]] = {}
        steps = []
        for position in range(draw(st.integers(0, 6))):
            window = draw(st.sampled_from("abc"))
            before, after = published.get(window, []), draw(st.lists(workouts(), max_size=3))
            published[window] = after
            changes = [
                change(op, name, f"{number}{window}{index}", value, day=each["day"])
                for op, parts in (("retract", before), ("apply", after))
                for index, each in enumerate(parts)
                for name, value in each["fed"].items()
            ]
            steps.append(contribution(*changes, position=position * 3, source=f"extractions/{number}"))
        sources[f"extractions/{number}"] = steps
        left += [each for parts in published.values() for each in parts]
    return sources, left


def interleaved(sources: dict[str, list[Contribution]], random: Any) -> list[Contribution]:
    """The contributions of all sources in a random order that keeps each source's own, with redeliveries of what came before."""
    waiting = [list(steps) for steps in sources.values() if steps]
    order: list[Contribution] = []
    while waiting:
        source = random.choice(waiting)
        order.append(source.pop(0))
        if random.random() < 0.3:
            order.append(random.choice(order))
        waiting = [steps for steps in waiting if steps]
    return order


def oracle(left: list[dict[str, Any]]) -> dict[str, Any]:
    def fed(name: str) -> list[Any]:
        return [each["fed"][name] for each in left if name in each["fed"]]

    expected: dict[str, Any] = {}
    if fed("sessions"):
        expected["sessions"] = len(fed("sessions"))
    if fed("total_minutes"):
        expected["total_minutes"] = sum(fed("total_minutes"))
    if fed("average_km"):
        expected["average_km"] = pytest.approx(sum(fed("average_km")) / len(fed("average_km")))
    if fed("longest_km"):
        expected["longest_km"] = max(fed("longest_km"))
    if fed("shortest_km"):
        expected["shortest_km"] = min(fed("shortest_km"))
    return expected


@given(logs(), st.randoms(use_true_random=False), st.randoms(use_true_random=False), st.booleans())
def test_order_across_sources_changes_neither_bytes_nor_values(
    log: tuple[dict[str, list[Contribution]], list[dict[str, Any]]], one: Any, other: Any, windowed: bool
) -> None:
    sources, left = log
    if not any(sources.values()):
        return
    entity_type = WEEK if windowed else LOG
    first, second = run(interleaved(sources, one), entity_type), run(interleaved(sources, other), entity_type)
    assert to_bytes(first) == to_bytes(second)
    assert first.empty == (not any(each["fed"] for each in left))
    if first.empty:
        return
    assert first.last_time is not None
    rendered = render(first, entity_type, "acme", "run")
    assert rendered.to_json() == render(second, entity_type, "acme", "run").to_json()
    newest = (rendered.event_time - START) // timedelta(days=1)
    counted = [each for each in left if not windowed or each["day"] > newest - 7]
    assert values(first, entity_type) == oracle(counted)
