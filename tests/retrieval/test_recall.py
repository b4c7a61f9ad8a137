"""RecallPipeline over a real store: ranking, duplicates, expiry, entities."""

import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.records import Memory, MemoryChange
from models.embedding.build import build_embedder
from retrieval.pipeline import RecallPipeline
from retrieval.profiles import RANKERS
from retrieval.relevance.features import FEATURES
from retrieval.request import RecallHit, RecallRequest
from runtime.clocks import ManualClock
from runtime.redis.client import open_redis
from runtime.redis.retrieval_counts import RetrievalCounts, Retrieved
from runtime.settings import EmbeddingSettings, RankingProfile, RecallSettings, RedisSettings
from stores.edge.client import EdgeStore
from stores.errors import ModelMismatchError
from stores.index_writer import IndexWriter
from stores.port import MemoryFilter, MemoryStore, TenantScope
from tests.stores.factories import DIMENSION, LATE_DIMENSION, NOON, BagOfWordsEmbedder, at, in_feed, memory, store_memories, take_filter

pytestmark = pytest.mark.integration

ACME = TenantScope("acme")


def recall_over(store: MemoryStore, *, settings: RecallSettings | None = None) -> RecallPipeline:
    return RecallPipeline(store=store, embedder=BagOfWordsEmbedder(), settings=settings or RecallSettings(), clock=ManualClock(NOON))


def ask(query: str, **fields: Any) -> RecallRequest:
    return RecallRequest(filter=take_filter(ACME, fields), query=query, **fields)


async def test_the_best_hit_has_evidence_and_score_parts(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, memory("Ann bought a red bicycle", message_ids=["m7", "m3"]), memory("it rains"))
    response = await recall_over(edge_store).recall(ask("red bicycle", explain=True))
    best = response.hits[0]
    assert best.memory.content == "Ann bought a red bicycle"
    assert best.evidence == ("m7", "m3")
    assert best.score == best.parts["origin"]
    assert set(best.parts) == {"origin", "time", "business", "dense", "late", "bm25", *(f"ranking_{name}" for name in FEATURES)}
    assert response.hits[-1].score < best.score


async def test_an_event_is_found_by_its_original_words(edge_store: EdgeStore) -> None:
    said = memory("Ann has a new home", search_text="Ann moved to Oslo with her bicycle")
    await store_memories(edge_store, memory("Ann has a new job"), memory("Ann has a new dog"), said)
    response = await recall_over(edge_store).recall(ask("Oslo bicycle", explain=True))
    assert response.hits[0].memory == said
    assert [each.memory.content for each in response.hits if "bm25" in each.parts] == [said.content]


async def test_a_keyword_finds_memories_without_shared_words(edge_store: EdgeStore) -> None:
    near = [memory(f"which nickname fits number {number}", keywords=["naming"]) for number in range(3)]
    far = memory("the crew calls her Bear", keywords=["Naming"], user="eve")
    await store_memories(edge_store, *near, far, *(memory(f"it rains {number}", keywords=["weather"]) for number in range(80)))
    recall = recall_over(edge_store, settings=RecallSettings(limit=6))
    alone = (await recall.recall(ask("which nickname"))).hits
    assert far not in [each.memory for each in alone]
    hits = (await recall.recall(ask("which nickname", keyword_quota=1, explain=True))).hits
    assert [(each.memory, each.keyword) for each in hits] == [*((each.memory, None) for each in alone[:5]), (far, "naming")]
    assert hits[5].score == pytest.approx((hits[5].parts["keyword"] + hits[5].parts["origin"]) / 2)
    for narrowed in ({"kinds": ("entity",)}, {"sessions": ("other",)}, {"until": NOON}):
        assert far not in [each.memory for each in (await recall.recall(ask("which nickname", keyword_quota=2, **narrowed))).hits]


async def test_an_empty_store_has_no_hits(edge_store: EdgeStore) -> None:
    assert (await recall_over(edge_store).recall(ask("red bicycle"))).hits == ()


async def test_a_requests_limit_overrides_the_setting(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, *(memory(f"note {index}") for index in range(30)))
    recall = recall_over(edge_store, settings=RecallSettings(limit=7))
    assert len((await recall.recall(ask("note"))).hits) == 7
    assert len((await recall.recall(ask("note", limit=20))).hits) == 20
    assert len((await recall.recall(ask("note", limit=100))).hits) == 30


@pytest.mark.parametrize("profile", ["learned", "weighted", "memx"])
async def test_last_may_is_taken_from_the_recalls_moment(edge_store: EdgeStore, profile: RankingProfile) -> None:
    years = {year: memory(f"Ann ran to the lake, run {year}", event_time=NOON.replace(year=year, month=5)) for year in (2021, 2022, 2023)}
    await store_memories(edge_store, *years.values())
    recall = recall_over(edge_store)

    async def found(moment: datetime) -> list[RecallHit]:
        return list((await recall.recall(ask("ran to the lake last May", as_of=moment, profile=profile, explain=True))).hits)

    part = "ranking_time" if profile == "learned" else "prior_time"
    for asked, meant in ((datetime(2023, 9, 1, tzinfo=UTC), 2023), (datetime(2023, 2, 1, tzinfo=UTC), 2022)):
        hits = await found(asked)
        assert hits[0].memory == years[meant]
        assert hits[0].parts[part] == max(each.parts[part] for each in hits) > 0
        # It favours, and filters nothing.
        assert len(hits) == asked.year - 2020 - (asked.month < 5)


async def test_time_and_importance_count_by_their_weights(edge_store: EdgeStore) -> None:
    old = memory("Ann moved to Rome in spring", event_time=NOON - timedelta(days=400), importance=1.0, type="move")
    new = memory("Ann lives somewhere else today", event_time=NOON, importance=0.1)
    await store_memories(edge_store, old, new)
    recall = recall_over(edge_store)

    async def best(**fields: Any) -> Memory:
        return (await recall.recall(ask("Ann moved to Rome in spring", **fields))).hits[0].memory

    assert await best() == old
    assert await best(time_weight=0.9) == new
    assert await best(time_weight=0.45, business_weight=0.55) == old
    assert await best(time_weight=0.45, business_weight=0.55, type_weights={"move": 0.1}) == new
    with pytest.raises(ValueError, match="exceed"):
        await recall.recall(ask("Rome", time_weight=0.6, business_weight=0.6))


async def test_a_request_sets_how_long_memories_are_fresh(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, memory("Ann moved to Rome in spring", event_time=NOON - timedelta(days=90)))
    recall = recall_over(edge_store)

    async def age_score(days: float | None) -> float:
        window = None if days is None else days * 86400
        return (await recall.recall(ask("Rome", time_weight=1.0, freshness_window_s=window))).hits[0].score

    assert await age_score(90) == 1
    assert await age_score(60) == pytest.approx(0.5)
    assert await age_score(0) == pytest.approx(0.125)
    assert await age_score(None) == pytest.approx(2 ** (-89 / 30))


async def test_the_newest_duplicate_is_returned_with_all_evidence(edge_store: EdgeStore) -> None:
    old = memory("Ann bought a red bicycle.", message_ids=["m1", "m2"], event_time=NOON - timedelta(days=9))
    new = memory("Ann bought the red bicycle", message_ids=["m9", "m2"], event_time=NOON)
    update = memory("Ann bought no red bicycle", message_ids=["m10"])
    await store_memories(edge_store, old, new, update)
    response = await recall_over(edge_store).recall(ask("Ann bought a red bicycle."))
    assert {each.memory.id for each in response.hits} == {new.id, update.id}
    [kept] = [each for each in response.hits if each.memory.id == new.id]
    scores = dict(zip(kept.evidence, kept.evidence_scores, strict=True))
    assert [*scores] == ["m1", "m2", "m9"]
    assert kept.score == scores["m1"] > scores["m2"] == scores["m1"] * RANKERS["learned"].evidence_decay > scores["m9"]
    assert response.duplicates == 1


async def test_duplicates_do_not_displace_other_hits(edge_store: EdgeStore) -> None:
    again = [memory("red bicycle", id=memory(f"{index}").id) for index in range(6)]
    await store_memories(edge_store, *again, *(memory(f"red bicycle {index}") for index in range(5)))
    response = await recall_over(edge_store).recall(ask("red bicycle", limit=4))
    assert len(response.hits) == 4
    assert len({each.memory.content for each in response.hits}) == 4


async def test_hits_below_the_minimum_score_are_rejected(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, memory("red bicycle"), memory("something else entirely"))
    strict = await recall_over(edge_store, settings=RecallSettings(min_origin_score=0.6)).recall(ask("red bicycle"))
    assert [each.memory.content for each in strict.hits] == ["red bicycle"]
    assert strict.rejected == 1
    lenient = await recall_over(edge_store, settings=RecallSettings(min_origin_score=0.6)).recall(ask("red bicycle", min_origin_score=0.0))
    assert len(lenient.hits) == 2


@pytest.mark.parametrize("profile", ["learned", "weighted", "memx"])
async def test_a_recall_that_is_not_sure_is_empty(edge_store: EdgeStore, profile: RankingProfile) -> None:
    only = memory("Ann bought a red bicycle")
    await store_memories(edge_store, only)
    recall = recall_over(edge_store)
    found = await recall.recall(ask("red bicycle", profile=profile, min_confidence=1e-9))
    assert [each.memory.id for each in found.hits] == [only.id]
    assert found.confidence is not None
    strict = await recall.recall(ask("red bicycle", profile=profile, min_confidence=1.0, trace=True))
    assert (strict.hits, strict.rejected, strict.confidence) == ((), 1, found.confidence)
    assert strict.outcomes[only.id].outcome == "below_threshold"


async def test_as_of_finds_earlier_events(edge_store: EdgeStore) -> None:
    first, then, later = (memory(f"red bicycle {day}", event_time=NOON + timedelta(days=day)) for day in (-40, -20, -19))
    entity = memory("Ann: red bicycle", kind="entity", event_time=NOON - timedelta(days=60))
    await store_memories(edge_store, first, then, later, entity)
    recall = recall_over(edge_store)

    async def found(**fields: Any) -> set[str]:
        return {each.memory.content for each in (await recall.recall(ask("red bicycle", **fields))).hits}

    assert await found(as_of=then.event_time) == {first.content, then.content}
    assert await found(as_of=then.event_time, since=then.event_time) == {then.content}
    assert await found(as_of=NOON, until=then.event_time) == {first.content}
    assert await found(as_of=NOON, kinds=("entity",)) == set()
    assert await found(as_of=datetime.max.replace(tzinfo=UTC)) == {first.content, then.content, later.content}
    fresh = await recall.recall(ask("red bicycle", as_of=then.event_time, time_weight=1.0))
    assert fresh.hits[0].memory == then
    assert fresh.hits[0].score == 1, "its age is taken at that moment"


async def test_memx_ranks_by_earlier_recalls(edge_store: EdgeStore, redis_url: str) -> None:
    notes = [memory(f"red bicycle {number}", event_time=NOON - timedelta(days=90)) for number in range(6)]
    await store_memories(edge_store, *notes)
    asked = ask("red bicycle", profile="memx")
    async with open_redis(RedisSettings(url=redis_url, prefix=f"{uuid.uuid4()}:", timeout_s=60.0)) as redis:
        counts = RetrievalCounts(redis=redis)
        recall = RecallPipeline(
            store=edge_store, embedder=BagOfWordsEmbedder(), settings=RecallSettings(), clock=ManualClock(NOON), counts=counts
        )
        before = await recall.recall(asked)
        last = before.hits[-1].memory
        await counts.add([Retrieved("acme", [last.id], NOON)])
        after = await recall.recall(asked)
    assert after.hits[0].memory == last
    assert (after.confidence, len(after.hits)) == (None, 6)


async def test_memx_returns_nothing_where_nothing_is_near(edge_store: EdgeStore) -> None:
    only = memory("Ann bought a red bicycle")
    await store_memories(edge_store, only)
    found = await recall_over(edge_store).recall(ask("quantum flux", profile="memx", trace=True))
    assert (found.hits, found.rejected, found.outcomes[only.id].outcome) == ((), 1, "below_threshold")


async def test_memx_works_without_redis(edge_store: EdgeStore, tmp_path: Path) -> None:
    await store_memories(edge_store, memory("red bicycle"))
    async with open_redis(RedisSettings(url=f"unix://{tmp_path}/nobody")) as redis:
        counts = RetrievalCounts(redis=redis)
        recall = RecallPipeline(
            store=edge_store, embedder=BagOfWordsEmbedder(), settings=RecallSettings(), clock=ManualClock(NOON), counts=counts
        )
        assert len((await recall.recall(ask("red bicycle", profile="memx"))).hits) == 1


async def test_another_embedding_model_has_no_confidence(edge_store: EdgeStore) -> None:
    class Another(BagOfWordsEmbedder):
        name = "another-model"

    recall = RecallPipeline(store=edge_store, embedder=Another(), settings=RecallSettings(), clock=ManualClock(NOON))
    change = MemoryChange(op="upsert", memory_id=(each := memory("red bicycle")).id, tenant=each.tenant, memory=each)
    await IndexWriter(store=edge_store, embedder=Another()).write(in_feed([change]))
    for profile in ("learned", "weighted"):
        found = await recall.recall(ask("red bicycle", profile=profile, min_confidence=1.0))
        assert (len(found.hits), found.confidence) == (1, None)


async def test_equal_words_are_found_by_the_asked_day(edge_store: EdgeStore) -> None:
    old = memory("Ann bought a red bicycle.", event_time=NOON - timedelta(days=9))
    new = memory("Ann bought the red bicycle", event_time=NOON)
    await store_memories(edge_store, old, new)
    response = await recall_over(edge_store).recall(ask("Who bought a red bicycle on 27 April 2024?"))
    assert [each.memory.id for each in response.hits] == [old.id, new.id]


async def test_only_the_learned_profile_looks_how_sure_it_is(edge_store: EdgeStore) -> None:
    recall = recall_over(edge_store)
    assert (await recall.recall(ask("red bicycle"))).confidence == 0
    assert (await recall.recall(ask("red bicycle", profile="weighted"))).confidence is None
    strict = await recall_over(edge_store, settings=RecallSettings(min_confidence=0.5)).recall(ask("red bicycle", profile="weighted"))
    assert strict.confidence == 0


async def test_a_trace_shows_the_outcome_of_each_candidate(edge_store: EdgeStore) -> None:
    again = memory("the red bicycle", id=memory("again").id, event_time=NOON - timedelta(days=1))
    best, second, bad = memory("red bicycle"), memory("red car"), memory("something else entirely")
    await store_memories(edge_store, again, best, second, bad)
    response = await recall_over(edge_store).recall(ask("red bicycle", trace=True, limit=1, min_origin_score=0.3, explain=True))
    fates = {each.content: response.outcomes[each.id] for each in (best, second, again, bad)}
    assert [fate.outcome for fate in fates.values()] == ["returned", "rank", "duplicate", "below_threshold"]
    assert [fate.rank for fate in fates.values()] == [1, 2, None, None]
    assert fates[again.content].of == best.id
    [hit] = response.hits
    assert set(hit.ranks) == {"dense", "bm25", "late", "store"}
    assert (await recall_over(edge_store).recall(ask("red bicycle"))).outcomes == {}


async def test_expired_memories_are_not_recalled(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, memory("tea now", expires_at=NOON + timedelta(seconds=1)), memory("tea then", expires_at=NOON))
    response = await recall_over(edge_store).recall(ask("tea"))
    assert [each.memory.content for each in response.hits] == ["tea now"]


async def test_filters_are_passed_to_the_store(edge_store: EdgeStore) -> None:
    await store_memories(
        edge_store, memory("tea", user="ann"), memory("tea as entity", kind="entity", type="person"), memory("blue tea", generation="b")
    )
    recall = recall_over(edge_store)

    async def found(**fields: Any) -> set[str]:
        return {each.memory.content for each in (await recall.recall(ask("tea", **fields))).hits}

    assert await found() == {"tea", "tea as entity"}
    assert await found(kinds=("entity",), types=("person",)) == {"tea as entity"}
    assert await found(generation="b") == {"blue tea"}
    assert await found(since=NOON + timedelta(days=1)) == set()
    own = RecallRequest(filter=MemoryFilter(scope=TenantScope("acme", "ann")), query="tea")
    assert {each.memory.content for each in (await recall.recall(own)).hits} == {"tea"}


async def test_a_recalls_entities_are_narrowed_by_its_filter(edge_store: EdgeStore) -> None:
    ann, bob = (memory(f"{name} rides a bicycle", kind="entity", type="person", entity_key=name) for name in ("ann", "bob"))
    await store_memories(edge_store, ann, bob)
    recall = recall_over(edge_store)
    assert (await recall.recall(ask("bicycle", entity_types=("person",), keys=("bob", "eve")))).entities == [bob]
    assert (await recall.recall(ask("bicycle", entity_types=("person",), at=(at(0, partition=1),)))).entities == []


async def test_points_of_another_model_are_not_searched(edge_store: EdgeStore) -> None:
    await edge_store.prepare(model="another", dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    with pytest.raises(ModelMismatchError):
        await recall_over(edge_store).recall(ask("tea"))


@pytest.mark.parametrize("bad", [{"query": " "}, {"limit": 0}, {"since": datetime(2024, 1, 1)}])
def test_an_invalid_request_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"needs|must"):
        ask(**{"query": "tea", **bad})


async def test_the_real_model_finds_answers_to_questions(edge_store: EdgeStore, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("ctranslate2", reason="the embedded extra is not installed")
    embedder = build_embedder(EmbeddingSettings(), cache=Path(tmp_path_factory.mktemp("models")))
    texts = [
        "Caroline (8 May 2023): Caroline went to an LGBTQ support group yesterday (7 May 2023)",
        "Melanie (8 May 2023): Melanie painted that lake sunrise last year",
        "Caroline (25 May 2023): Caroline is researching adoption agencies",
        "Melanie (25 May 2023): the kids were excited about the dinosaur exhibit at the museum",
    ]
    stored = [memory(text, message_ids=[f"D{index}"]) for index, text in enumerate(texts)]
    await store_memories(edge_store, *stored, embedder=embedder)
    recall = RecallPipeline(store=edge_store, embedder=embedder, settings=RecallSettings(), clock=ManualClock(NOON))
    questions = [
        "When did Caroline join the support group?",
        "What did Melanie paint?",
        "Is Caroline going to adopt?",
        "What do Melanie's children like?",
    ]
    for index, question in enumerate(questions):
        best = (await recall.recall(ask(question))).hits[0]
        assert best.evidence == (f"D{index}",), question
    await embedder.close()
