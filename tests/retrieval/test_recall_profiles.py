"""Recalls over a real store with a deployment's own profiles, and the rankings that they record."""

from dataclasses import replace
from typing import Any

import pytest

from retrieval.pipeline import RecallPipeline
from retrieval.profiles import BUILT_IN, Profile
from retrieval.rankers.fitted_models import LEARNED, RankingModel
from retrieval.rankers.learned import LearnedRanker
from retrieval.rankers.weighted import WeightedRanker
from retrieval.relevance.features import FEATURES
from retrieval.request import RecallRequest
from retrieval.training.ranked import MAX_RANKED
from runtime.clocks import ManualClock
from runtime.settings import RecallSettings
from stores.edge.client import EdgeStore
from stores.port import TenantScope
from tests.stores.factories import NOON, BagOfWordsEmbedder, memory, store_memories, take_filter

pytestmark = pytest.mark.integration

SHORT_FIRST = RankingModel(weights={name: -1.0 if name == "length" else 0.0 for name in FEATURES}, slope=1.0, intercept=4.0)
PROFILES = {**BUILT_IN, "short": Profile(ranker=LearnedRanker(SHORT_FIRST))}
NOTES = [memory("Ann bought a red bicycle"), memory("Ann sold her old red bicycle to a friend"), memory("it rains today")]


def recall_over(store: EdgeStore, profiles: dict[str, Profile], settings: RecallSettings | None = None) -> RecallPipeline:
    return RecallPipeline(
        store=store, embedder=BagOfWordsEmbedder(), settings=settings or RecallSettings(), clock=ManualClock(NOON), profiles=profiles
    )


def ask(query: str = "Ann's red bicycle", **fields: Any) -> RecallRequest:
    return RecallRequest(filter=take_filter(TenantScope("acme"), fields), query=query, **fields)


async def test_a_named_profile_ranks_by_its_own_weights(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, *NOTES)
    recall = recall_over(edge_store, PROFILES)
    as_shipped = await recall.recall(ask(explain=True))
    short = await recall.recall(ask(profile="short", explain=True))
    assert as_shipped.hits[0].memory.id != NOTES[2].id
    assert [hit.memory.id for hit in short.hits] == [NOTES[index].id for index in (2, 0, 1)]
    parts = short.hits[0].parts
    assert {name for name in parts if name.startswith("ranking_")} == {f"ranking_{name}" for name in FEATURES}
    assert parts["ranking_length"] < 0 == parts["ranking_late"]


async def test_confidence_is_the_same_under_each_model(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, *NOTES)
    recall = recall_over(edge_store, PROFILES)
    found = [await recall.recall(ask(profile=each, min_confidence=1e-9)) for each in ("learned", "short", "weighted")]
    assert len({each.confidence for each in found}) == 1
    assert (await recall.recall(ask(profile="short"))).confidence == found[0].confidence


async def test_profile_values_override_settings_but_not_requests(edge_store: EdgeStore) -> None:
    old, new = memory("Ann bought a red bicycle"), memory("Ann lost a red bicycle", event_time=NOON.replace(year=2020))
    await store_memories(edge_store, old, new)
    profiles = {**BUILT_IN, "strict": Profile(ranker=WeightedRanker(), time_weight=1.0, business_weight=0.0, min_confidence=1.0)}
    recall = recall_over(edge_store, profiles, RecallSettings(business_weight=0.5))
    assert (await recall.recall(ask(profile="strict"))).hits == ()
    hits = (await recall.recall(ask(profile="strict", min_confidence=0.0))).hits
    assert [hit.score for hit in hits] == [hit.parts["time"] for hit in hits]
    hits = (await recall.recall(ask(profile="strict", min_confidence=0.0, time_weight=0.0))).hits
    assert [hit.score for hit in hits] == [hit.parts["origin"] for hit in hits]
    hits = (await recall.recall(ask(profile="weighted"))).hits
    assert [hit.score for hit in hits] == [pytest.approx((hit.parts["origin"] + hit.parts["business"]) / 2) for hit in hits]


async def test_an_unknown_profile_is_refused(edge_store: EdgeStore) -> None:
    with pytest.raises(ValueError, match="'shrt' is not a ranking profile; known profiles: learned, memx, short, weighted"):
        await recall_over(edge_store, PROFILES).recall(ask(profile="shrt"))


@pytest.mark.parametrize("profile", ["learned", "weighted", "memx", "short"])
async def test_keeping_the_ranking_does_not_change_the_answer(edge_store: EdgeStore, profile: str) -> None:
    await store_memories(edge_store, *NOTES)
    recall = recall_over(edge_store, PROFILES)
    plain = await recall.recall(ask(profile=profile, limit=2))
    kept = await recall.recall(ask(profile=profile, limit=2, keeps_ranking=True))
    assert plain.kept_ranking == ()
    assert [(hit.memory.id, hit.score) for hit in kept.hits] == [(hit.memory.id, hit.score) for hit in plain.hits]
    assert kept.confidence == plain.confidence
    assert [each.rank for each in kept.kept_ranking] == [1, 2, 3]
    assert [each.memory_id for each in kept.kept_ranking[:2]] == [hit.memory.id for hit in kept.hits]
    assert [each.score for each in kept.kept_ranking[:2]] == [pytest.approx(hit.score, abs=1e-6) for hit in kept.hits]
    assert {len(each.features) for each in kept.kept_ranking} == {len(FEATURES)}


async def test_kept_features_equal_the_models_input(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, *NOTES)
    found = await recall_over(edge_store, PROFILES).recall(ask(keeps_ranking=True, explain=True))
    for hit, each in zip(found.hits, found.kept_ranking, strict=True):
        values = dict(zip(FEATURES, each.features, strict=True))
        added = {name: hit.parts[f"ranking_{name}"] for name in FEATURES}
        assert added == {name: pytest.approx(LEARNED.slope * LEARNED.weights[name] * values[name], abs=1e-3) for name in FEATURES}


async def test_the_best_are_kept_of_many(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, *(memory(f"note {number} of a red bicycle") for number in range(MAX_RANKED + 30)))
    recall = recall_over(edge_store, PROFILES, RecallSettings(prefetch=200))
    found = await recall.recall(ask(limit=MAX_RANKED + 30, keeps_ranking=True))
    assert len(found.hits) == MAX_RANKED + 30
    assert [each.memory_id for each in found.kept_ranking] == [hit.memory.id for hit in found.hits[:MAX_RANKED]]


async def test_an_expansions_own_finds_keep_their_place(edge_store: EdgeStore) -> None:
    """A result that the query itself does not find has none of the query's features."""
    boat = memory("a boat by the sea")
    await store_memories(edge_store, *(memory(f"note {number} of Ann's red bicycle") for number in range(20)), boat)
    recall = recall_over(edge_store, PROFILES, RecallSettings(prefetch=2))
    found = await recall.recall(ask(expansions=("a boat by the sea",), keeps_ranking=True, trace=True, limit=1))
    assert found.outcomes[boat.id].rank is not None
    kept = {each.memory_id: each.rank for each in found.kept_ranking}
    assert kept == {memory_id: fate.rank for memory_id, fate in found.outcomes.items() if memory_id in kept}
    assert 1 < len(kept) < len(found.outcomes)
    assert boat.id not in kept


async def test_nothing_found_keeps_nothing(edge_store: EdgeStore) -> None:
    recall = recall_over(edge_store, PROFILES)
    assert (await recall.recall(ask(keeps_ranking=True))).kept_ranking == ()
    await store_memories(edge_store, *NOTES)
    assert (await recall.recall(replace(ask(keeps_ranking=True), min_confidence=1.0))).kept_ranking == ()
