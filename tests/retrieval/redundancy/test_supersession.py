"""A changed value is never hidden: the newest one counts, and older ones name it."""

from datetime import timedelta
from typing import Any

import pytest

from retrieval.redundancy.supersession import with_superseded
from retrieval.request import RecallHit
from tests.stores.factories import NOON, memory


def likes(subject: str, does: bool, *, day: int, score: float = 0.5, **fields: Any) -> RecallHit:
    content = f"Ann {'likes' if does else 'does not like'} {subject} on day {day}"
    found = memory(
        content,
        type=fields.pop("type", "preference"),
        properties=fields.pop("properties", {"subject": subject, "likes": does}),
        event_time=NOON + timedelta(days=day),
        **fields,
    )
    return RecallHit(memory=found, score=score, parts={}, evidence=("m1",), evidence_scores=(score,))


OLD, NEW = likes("tea", True, day=1), likes("tea", False, day=2)


def test_an_older_value_names_the_newest() -> None:
    oldest = likes("Tea", True, day=0)
    assert with_superseded([OLD, NEW, oldest], 10) == [
        OLD._replace(superseded_by=NEW.memory.id),
        NEW,
        oldest._replace(superseded_by=NEW.memory.id),
    ]


def test_the_newest_takes_the_last_place_it_needs() -> None:
    others = [likes(f"drink {number}", True, day=3) for number in range(3)]
    best = with_superseded([others[0], OLD, others[1], others[2], NEW], 3)
    assert [each.memory for each in best] == [others[0].memory, OLD.memory, NEW.memory]
    assert best[1].superseded_by == NEW.memory.id


def test_with_one_place_the_newer_replaces_the_older() -> None:
    assert with_superseded([OLD, NEW], 1) == [NEW]


def test_an_older_value_names_the_entity_with_the_newer() -> None:
    others = [likes(f"drink {number}", True, day=3) for number in range(2)]
    best = with_superseded([OLD, others[0], NEW, others[1]], 2, covered={NEW.memory.id: "the entity"})
    assert best == [OLD._replace(superseded_by="the entity"), others[0]]


def test_an_older_value_may_be_missing() -> None:
    assert with_superseded([NEW, OLD], 1) == [NEW]


@pytest.mark.parametrize(
    "other",
    [
        likes("tea", True, day=2),
        likes("coffee", False, day=2),
        likes("tea", False, day=2, user="bob"),
        likes("tea", False, day=2, type="habit"),
        likes("tea", False, day=2, kind="summary"),
        likes("tea", False, day=2, properties={"subject": "tea", "likes": False, "why": "it is bitter"}),
        likes("tea", False, day=2, properties={"likes": False}),
        likes("tea", False, day=2, properties={}),
    ],
)
def test_values_that_can_coexist_are_not_superseded(other: RecallHit) -> None:
    assert with_superseded([OLD, other], 10) == [OLD, other]


def test_where_nothing_is_named_nothing_changes() -> None:
    bare = [likes("tea", does, day=day, properties={"likes": does}) for day, does in enumerate((True, False))]
    assert with_superseded(bare, 10) == bare
