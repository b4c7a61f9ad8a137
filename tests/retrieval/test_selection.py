"""The returned memories: the requested number, each fact once, and the outcome of each candidate in the response."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memory.records import Memory
from retrieval.relevance.final_score import Scoring, Weights
from retrieval.request import RecallHit
from retrieval.selection import Ranked, cut, selected
from tests.stores.factories import NOON, memory

SCORING = Scoring(weights=Weights(), type_weights={"note": 0.5}, now=NOON)


def hit(content: str, **fields: Any) -> RecallHit:
    return hit_of(memory(content, **{"user": "ann", **fields}))


def hit_of(found: Memory) -> RecallHit:
    return RecallHit(memory=found, score=0.5, parts={"origin": 0.5}, evidence=("m1",), evidence_scores=(0.5,))


def entity(name: str, *lines: str) -> Memory:
    return memory(name, kind="entity", type="user_profile", user="ann", properties={"facts": "\n".join(lines)})


def contents(hits: list[RecallHit]) -> list[str]:
    return [each.memory.content for each in hits]


NOTES = [hit(f"note {number}") for number in range(12)]


def test_lower_ranked_hits_replace_covered_ones() -> None:
    covering = hit_of(entity("profile", "Note 0", "note 7"))
    best, outcome_of = cut([covering, *NOTES], 11)
    assert contents(best) == ["profile", *(f"note {number}" for number in range(12) if number not in {0, 7})]
    assert outcome_of == {NOTES[number].memory.id: covering.memory.id for number in (0, 7)}


async def test_an_event_stays_and_names_its_entity() -> None:
    profile = entity("profile", "note 1")
    answer = await selected(Ranked(hits=NOTES, limit=3, scoring=SCORING, duplicates={}, trace=True), entities=[profile])
    assert [(each.memory.content, each.repeated_by) for each in answer.hits] == [("note 0", None), ("note 1", profile.id), ("note 2", None)]
    assert answer.outcomes[NOTES[1].memory.id].outcome == "returned"


def test_an_entity_that_moves_up_covers_events_too() -> None:
    profile = entity("profile", "note 1")
    ranked = [NOTES[0], NOTES[1], hit_of(profile), NOTES[2]]
    assert contents(cut(ranked, 2)[0]) == ["note 0", "note 1"], "beyond the limit, it shows nothing"
    best, outcome_of = cut([hit_of(entity("covering", "note 0")), *ranked], 3)
    assert contents(best) == ["covering", "profile", "note 2"]
    assert outcome_of[NOTES[1].memory.id] == profile.id


def test_a_covering_entity_keeps_its_rank() -> None:
    old, new = (
        hit(f"Ann likes tea: {likes}", properties={"subject": "tea", "likes": likes}, event_time=NOON + timedelta(days=day))
        for day, likes in enumerate((True, False))
    )
    ranked = [old, hit_of(entity("profile", "note 0")), NOTES[0], new]
    assert contents(cut(ranked, 2)[0]) == ["profile", new.memory.content]


@given(st.permutations(range(8)), st.integers(1, 9), st.lists(st.sets(st.integers(0, 7)), max_size=3))
def test_facts_appear_once_and_the_limit_is_used(order: list[int], limit: int, says: list[set[int]]) -> None:
    notes = [NOTES[number] for number in order]
    entities = [entity(f"profile {number}", *(f"note {each}" for each in said)) for number, said in enumerate(says)]
    ranked = [*map(hit_of, entities), *notes]
    best, outcome_of = cut(ranked, limit)
    returned = {each.memory.id for each in best}
    shown = [each for each in entities if each.id in returned]
    assert not returned & outcome_of.keys()
    assert set(outcome_of.values()) <= {each.id for each in shown}
    assert not {f"note {number}" for each in shown for number in says[entities.index(each)]} & set(contents(best))
    assert len(best) == min(limit, len(ranked) - len(outcome_of))


async def test_outcomes_and_parts_match_the_answer() -> None:
    old, new = (
        hit(f"Ann likes tea: {likes}", properties={"subject": "tea", "likes": likes}, event_time=NOON + timedelta(days=day))
        for day, likes in enumerate((True, False))
    )
    profile = hit_of(entity("profile", "note 0"))
    ranked = Ranked(
        hits=[old, profile, NOTES[0], NOTES[1], NOTES[2], new],
        limit=3,
        scoring=SCORING,
        duplicates={"again": NOTES[1]},
        trace=True,
        confidence=0.7,
    )
    answer = await selected(ranked)
    assert [each.memory.id for each in answer.hits] == [old.memory.id, profile.memory.id, new.memory.id]
    assert [(fate.outcome, fate.rank, fate.of) for fate in answer.outcomes.values()] == [
        ("returned", 1, None),
        ("returned", 2, None),
        ("repeated", 3, profile.memory.id),
        ("rank", 4, None),
        ("rank", 5, None),
        ("returned", 6, None),
        ("duplicate", None, NOTES[1].memory.id),
    ]
    assert answer.hits[0].parts == {"origin": 0.5, "time": 1.0, "business": 0.5 * old.memory.importance}
    assert (answer.duplicates, answer.rejected, answer.confidence) == (1, 0, 0.7)
