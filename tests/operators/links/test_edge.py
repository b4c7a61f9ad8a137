"""EDGE: edges with the time span in which they hold, contradictions, retractions, and links to other nodes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import Event, Extraction, Memory
from memory.relations import nodes_of
from operators import laws
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState
from operators.entities.render import render
from operators.entities.routing import contributions_of
from operators.errors import RefusedChangeError
from operators.links.edge import edges_of
from tests.made_records import made_event, made_extraction
from tests.operators.edge_schema import edge_schema
from tests.operators.histories import configured

START = datetime(2024, 1, 1, 9, tzinfo=UTC)
NAMES = st.sampled_from(["ann", "Ann", "bergen", "oslo", "paul"])


SCHEMA = edge_schema()
NODE = SCHEMA.entity_types[0]


def statement(number: int, subject: str, relation: str, other: str, *, day: int | None = None, **fields: Any) -> Event:
    said_at = START + timedelta(days=number if day is None else day)
    date = fields.pop("date", None)
    return made_event(
        f"{subject} {relation} {other}",
        said_at,
        id=f"e{number}",
        session="s1",
        window_id=f"w{number}",
        type="relation",
        properties={"subject": subject, "relation": relation, "object": other, **fields},
        date=date,
        message_ids=[f"m{number}"],
    )


def extraction(*events: Event) -> Extraction:
    return made_extraction(
        list(events),
        max((each.said_at for each in events), default=START),
        window_id="w",
        session="s1",
        schema_name="graph",
    )


def nodes(*steps: list[Event]) -> dict[str, Memory]:
    """The memories of all nodes, by node, after extractions of one window: each replaces the one before."""
    states: dict[str, EntityState] = {}
    previous: list[Any] = []
    for position, events in enumerate(steps):
        made = contributions_of(extraction(*events), SCHEMA, source="extractions/0", position=position, previous=previous)
        for each in made:
            states[each.entity_key] = apply_contribution(states.get(each.entity_key), each, NODE).state
        previous = made
    shown = (render(state, NODE, "acme", key) for key, state in states.items() if not state.empty)
    return {str(each.properties["nodes"]): each for each in shown}


def lines(memory: Memory) -> list[str]:
    return str(memory.properties.get("edges", "")).splitlines()


def linked(memory: Memory) -> dict[str, tuple[str, float]]:
    """By node: relation and score of the links."""
    names = {node_id(name): name for name in ("ann", "bergen", "oslo", "paul", "lyon")}
    return {names[each.id]: (each.relation, each.score) for each in memory.links or []}


def node_id(name: str) -> str:
    return entity_id("acme", "node", entity_key("ann", name))


def edge_values() -> st.SearchStrategy[Any]:
    relations = st.sampled_from(["likes", "lives in"])
    flags = {"ends": st.booleans(), "several": st.booleans()}
    properties = st.fixed_dictionaries({"subject": NAMES, "relation": relations, "object": NAMES, **flags})
    return properties.map(lambda each: {"properties": each, "keys": {"user": "ann", "nodes": "ann"}, "date": None})


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_edges_keep_the_law(law: Any) -> None:
    law(configured("EDGE"), edge_values(), laws.LONGEST)


@given(history=laws.histories(edge_values(), longest=30))
def test_a_small_limit_drops_the_oldest(history: tuple[list[laws.Step], list[laws.Step]]) -> None:
    operator = configured("EDGE", Limit=5)
    _, remaining = history
    state = laws.run(operator, remaining, newest=20)
    newest = sorted((day * laws.DAY + len(name), name) for name, day, _, _ in remaining)[-5:]
    assert [[each[0], each[2]] for each in (state or [[]])[0]] == [list(each) for each in newest]


def test_a_contradiction_ends_the_older_edge() -> None:
    found = nodes([statement(1, "Ann", "lives in", "Oslo"), statement(50, "ann", "Lives in", "Bergen")])
    assert lines(found["ann"]) == ["ann Lives in Bergen (since 2024-02-20)", "formerly: Ann lives in Oslo (2024-01-02 until 2024-02-20)"]
    assert linked(found["ann"]) == {"bergen": ("Lives in", 1.0), "oslo": ("lives in", 0.5)}
    assert lines(found["oslo"]) == ["Ann lives in Oslo (stated 2024-01-02)"], "its node does not know of the contradiction"
    assert linked(found["bergen"]) == {"ann": ("Lives in", 1.0)}
    assert found["ann"].user == "ann"


def test_the_order_of_arrival_does_not_matter() -> None:
    early, late = statement(1, "ann", "lives in", "oslo"), statement(50, "ann", "lives in", "bergen")
    assert lines(nodes([late, early])["ann"]) == lines(nodes([early, late])["ann"])


def test_a_retraction_gives_the_former_edge_back() -> None:
    first = statement(1, "ann", "lives in", "oslo")
    before = nodes([first])
    after = nodes([first, statement(50, "ann", "lives in", "bergen")], [first])
    assert lines(after["ann"]) == lines(before["ann"]) == ["ann lives in oslo (since 2024-01-02)"]
    assert linked(after["ann"]) == {"oslo": ("lives in", 1.0)}
    assert after.keys() == {"ann", "oslo"}, "the node of the retracted edge is deleted"


def test_an_end_ends_the_edge_at_both_nodes() -> None:
    found = nodes([statement(1, "ann", "works at", "Lyon"), statement(9, "ann", "works at", "lyon", ends=True)])
    expected = ["formerly: ann works at Lyon (2024-01-02 until 2024-01-10)"]
    assert lines(found["ann"]) == lines(found["lyon"]) == expected


def test_several_objects_contradict_nothing() -> None:
    found = nodes([statement(1, "ann", "likes", "oslo", several=True), statement(2, "ann", "likes", "bergen")])
    assert lines(found["ann"]) == ["ann likes bergen (since 2024-01-03)", "ann likes oslo (since 2024-01-02)"]


def test_an_edge_that_is_stated_again_holds_again() -> None:
    steps = [("oslo", 1), ("bergen", 5), ("oslo", 9), ("oslo", 12)]
    found = nodes([statement(day, "ann", "lives in", place) for place, day in steps])
    assert lines(found["ann"]) == [
        "ann lives in oslo (since 2024-01-10)",
        "formerly: ann lives in bergen (2024-01-06 until 2024-01-10)",
        "formerly: ann lives in oslo (2024-01-02 until 2024-01-06)",
    ]


def test_dates_are_as_exact_as_known() -> None:
    vague = statement(40, "ann", "lives in", "oslo", date="2023")
    unknown = statement(50, "ann", "knows", "paul", date="unknown")
    assert set(lines(nodes([vague, unknown])["ann"])) == {"ann lives in oslo (since 2023)", "ann knows paul"}


def test_an_edge_names_its_events() -> None:
    operator = configured("EDGE")
    value = {"properties": {"subject": "ann", "relation": "knows", "object": "paul"}, "keys": {"nodes": "paul"}, "date": None}
    state = laws.run(operator, [("a", 1, value, 1), ("b", 2, value, 1)])
    (edge,) = edges_of(state)
    assert (edge.event_ids, edge.other, edge.is_outgoing) == (("a", "b"), "ann", False)


def test_nodes_are_normalized() -> None:
    assert nodes_of({"subject": " Ann ", "relation": "is", "object": "ANN"}) == ["ann"]
    assert nodes_of({"subject": "Ann", "relation": "knows", "object": "Paul  B"}) == ["ann", "paul b"]
    assert nodes_of({"subject": "Ann"}) == []
    assert nodes_of({"subject": "Ann", "relation": " ", "object": "x"}) == []
    assert nodes_of({"subject": 5, "relation": "is", "object": "x"}) == []


def test_half_a_relation_is_refused() -> None:
    value = {"properties": {"subject": "ann", "object": "paul"}, "keys": {}, "date": None}
    with pytest.raises(RefusedChangeError, match="no_relation"):
        configured("EDGE").apply(None, laws.operand("a", 1, value, newest=1))


def test_links_are_bounded() -> None:
    found = nodes([statement(number, "ann", f"likes {number}", f"thing {number}") for number in range(80)])
    assert len(found["ann"].links or []) == 50
    assert len(lines(found["ann"])) == 60
