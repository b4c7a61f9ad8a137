"""A fact is in the results as an event or in an entity, never both."""

from typing import Any

import pytest

from memory.records import Memory
from retrieval.redundancy.entity_coverage import covered_by_entity
from retrieval.request import RecallHit
from tests.stores.factories import memory


def hit(content: str, **fields: Any) -> RecallHit:
    found = memory(content, **{"user": "ann", "message_ids": ["m1"], **fields})
    return RecallHit(memory=found, score=0.5, parts={}, evidence=("m1",), evidence_scores=(0.5,))


def profile(content: str = "user profile of ann", *, message_ids: tuple[str, ...] = ("m0", "m1"), **properties: Any) -> Memory:
    return memory(content, kind="entity", type="user_profile", user="ann", message_ids=list(message_ids), properties=properties)


TOLD = hit("Ann likes green tea.")


@pytest.mark.parametrize(
    "properties",
    [{"preferences": "Ann hates rain\nAnn likes the green tea"}, {"facts": ["Ann hates rain", "ann likes green tea!"]}],
)
def test_an_event_covered_by_an_entity_appears_once(properties: dict[str, Any]) -> None:
    entity = profile(**properties)
    assert covered_by_entity([TOLD, hit("Ann has a cat")], [entity]) == {TOLD.memory.id: entity.id}


@pytest.mark.parametrize(
    "preferences", ["Ann likes tea", "Ann likes green tea no more", "It is not so that Ann likes green tea", "likes green tea", ""]
)
def test_an_event_with_more_or_other_details_is_kept(preferences: str) -> None:
    assert covered_by_entity([TOLD], [profile(preferences=preferences, likes=True, number=7)]) == {}


@pytest.mark.parametrize(
    "other",
    [hit("Ann likes green tea", user="bob"), hit("Ann likes green tea", message_ids=["m9"]), hit("Ann likes green tea", kind="summary")],
)
def test_the_same_words_of_another_source_stay(other: RecallHit) -> None:
    assert covered_by_entity([other], [profile(preferences="Ann likes green tea")]) == {}


def test_the_entity_with_the_same_source_covers() -> None:
    other, own = (profile(of, message_ids=(of,), preferences="Ann likes green tea") for of in ("m9", "m1"))
    assert covered_by_entity([TOLD], [other, own]) == {TOLD.memory.id: own.id}


def test_an_entity_among_the_hits_is_never_repeated() -> None:
    entity = profile("Ann likes green tea", preferences="Ann likes green tea")
    found = RecallHit(memory=entity, score=0.5, parts={}, evidence=("m1",), evidence_scores=(0.5,))
    assert covered_by_entity([found, TOLD], [entity]) == {TOLD.memory.id: entity.id}
