"""TIERS: a queue, segments of similar messages, visits, and promotion to long-term memory."""

from typing import Any

import pytest

from memory.records import Change, Memory
from memory.schema import parse_schema
from memory.schema.model import EntityType
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, from_bytes, to_bytes
from operators.publishing import Owner
from operators.registry import bound_operator
from operators.tree.tiers import MAX_EVENTS, MemoryTiers
from tests.operators.tree.trees import START, contribution, turn

TEA, LAKE = (1.0, 0.1), (-0.1, 1.0)


def tiers_type(**parameters: Any) -> EntityType:
    """An entity type with one memory in tiers for each user."""
    aggregate = {"Op": "TIERS", "EventType": "turn", **parameters}
    properties = [{"PropertyName": "topics", "PropertyValueType": "string", "AggregateExpression": aggregate}]
    schema = parse_schema(
        {
            "Name": "talks",
            "EventTypes": [{"EventType": "turn", "Description": "A message."}],
            "EntityTypes": [{"EntityType": "talk", "Description": "Talks.", "Keys": ["user"], "Properties": properties}],
        }
    )
    return schema.entity_types[0]


class Tiers:
    """The memory of one user, contribution by contribution."""

    def __init__(self, **parameters: Any) -> None:
        self.type = tiers_type(**parameters)
        driver = bound_operator(self.type, "topics")
        assert driver is not None
        assert isinstance(driver.operator, MemoryTiers)
        self.operator = driver.operator
        self.state: EntityState | None = None
        self.position = 0
        self.refused: list[str] = []

    def take(self, *changes: Change) -> None:
        """One contribution."""
        result = apply_contribution(self.state, contribution(*changes, position=self.position), self.type)
        self.position += 1
        self.refused += [each.reason for each in result.refused]
        self.state = from_bytes(to_bytes(result.state))

    def say(self, *names: str, vector: tuple[float, float] = TEA) -> None:
        """Messages, one contribution each."""
        for name in names:
            self.take(turn("apply", name, vector, minute=self.position))

    def recall(self, day: int, *names: str) -> None:
        """A recall of messages."""
        at = START.replace(day=START.day + day)
        self.take(*(Change(op="touch", property="topics", source_id=each, event_time=at) for each in names))

    @property
    def inner(self) -> dict[str, Any]:
        """The operator's state."""
        assert self.state is not None
        return self.state.properties["topics"][1] if "topics" in self.state.properties else {}

    @property
    def queue(self) -> list[str]:
        """The messages in short-term memory."""
        return [each["event"]["id"] for each in self.inner.get("turns", [])]

    @property
    def segments(self) -> list[list[str]]:
        """The messages of each segment."""
        return [[each["id"] for each in segment["events"]] for segment in self.inner.get("segments", {}).values()]

    def published(self, tier: str) -> list[Memory]:
        """The memories of a tier."""
        found = self.operator.memories(self.inner, Owner("topics", self.type, "acme", "ann", ""))
        return [each for each in found if each.properties["tier"] == tier]


def test_the_oldest_half_becomes_segments() -> None:
    tiers = Tiers(Fifo=4)
    tiers.say("a", "b", vector=TEA)
    tiers.say("c", "d", vector=LAKE)
    assert (tiers.queue, tiers.segments) == (["a", "b", "c", "d"], [])
    tiers.say("e", vector=LAKE)
    assert (tiers.queue, tiers.segments) == (["d", "e"], [["a", "b"], ["c"]])
    assert tiers.operator.value(tiers.inner) == ("short-term memory: 2 messages, mid-term memory: 2 segments, long-term memory: 0")


def test_a_page_is_promoted_out_of_the_queue() -> None:
    tiers = Tiers(Fifo=4, Length=0, Threshold=400)
    tiers.say("a", "b", "c", "d")
    for day in (1, 2, 3):
        tiers.recall(day, "a")
    assert tiers.published("long-term") == [], "what is in short-term memory is not visited"
    tiers.say("e")
    for day in (4, 5, 6):
        assert tiers.published("long-term") == []
        tiers.recall(day, "a", "b")
    (promoted,) = tiers.published("long-term")
    assert promoted.content == "a was said; b was said; c was said"
    assert promoted.message_ids == ["m-c", "m-b", "m-a"]
    assert (promoted.properties["visits"], promoted.properties["heat"]) == (3, 4.0)
    tiers.say("f", "g", "h")
    assert [each.id for each in tiers.published("long-term")] == [promoted.id], "it stays"


def test_similar_messages_join_their_topic() -> None:
    tiers = Tiers(Fifo=2, Topics=True)
    tiers.say("a", "b", "c", vector=TEA)
    tiers.say("d", "e", vector=LAKE)
    tiers.say("f", "g", "h", vector=TEA)
    assert tiers.segments == [["a", "b", "c", "f"], ["d", "e"]]
    tiers.say("i", "j", vector=TEA)
    assert tiers.segments == [["a", "b", "c", "f", "g", "h"], ["d", "e"]]
    assert [each.properties["events"] for each in tiers.published("mid-term")] == [["h", "g", "f", "c", "b", "a"], ["e", "d"]]
    without = Tiers(Fifo=2)
    without.say("a", "b", "c", vector=TEA)
    assert without.published("mid-term") == []


def test_a_topic_and_the_state_are_bounded() -> None:
    tiers = Tiers(Fifo=2, Topics=True, Limit=3)
    for number in range(40):
        tiers.take(turn("apply", f"e{number}", TEA, minute=number, text="long " * 1000))
    assert {len(each) for each in tiers.segments} == {MAX_EVENTS, 38 - MAX_EVENTS}
    for number in range(40, 60):
        tiers.say(f"e{number}", vector=TEA if number % 2 else LAKE)
    assert len(tiers.segments) <= 3
    assert len(to_bytes(tiers.state or EntityState())) < 60_000


def test_the_coolest_segment_leaves() -> None:
    tiers = Tiers(Fifo=2, Limit=2, Length=0)
    tiers.say("a", vector=TEA)
    tiers.say("b", vector=LAKE)
    tiers.say("c", vector=TEA)
    assert tiers.segments == [["a"], ["b"]]
    tiers.recall(1, "a")
    tiers.say("d", vector=LAKE)
    tiers.say("e", vector=TEA)
    assert ["a"] in tiers.segments
    assert len(tiers.segments) == 2


def test_a_correction_keeps_place_and_visits() -> None:
    tiers = Tiers(Fifo=2, Topics=True)
    tiers.say("a", "b", "c", "d")
    tiers.recall(1, "a")
    before = tiers.inner["segments"]["a"]
    tiers.take(turn("retract", "a", TEA), turn("apply", "a", TEA, text="Something else."))
    after = tiers.inner["segments"]["a"]
    assert after["events"][0]["text"] == "Something else."
    assert {**after, "events": before["events"]} == before


@pytest.mark.parametrize("topics", [False, True])
def test_a_retraction_leaves_no_trace(topics: bool) -> None:
    tiers = Tiers(Fifo=2, Topics=topics)
    tiers.say("a", "b", "c")
    tiers.recall(1, "b")
    for name in ("b", "a", "c"):
        tiers.take(turn("retract", name, TEA))
        assert f"m-{name}" not in str(tiers.inner)
    assert tiers.inner == {}
    tiers.take(turn("retract", "z", TEA))
    assert tiers.refused == []


def test_an_event_is_added_once_with_its_vector() -> None:
    tiers = Tiers(Fifo=2)
    tiers.say("a", "b", "c", "a", "c")
    assert tiers.refused == ["already_applied", "already_applied"]
    change = turn("apply", "x", TEA)
    assert isinstance(change.value, dict)
    tiers.take(change.model_copy(update={"value": {**change.value, "vector": None}}))
    assert tiers.refused[-1] == "no_vector"
