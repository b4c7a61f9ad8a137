"""A search of many points filters by kind afterwards, and has the same results as a filtered search."""

from datetime import timedelta

import pytest

from stores.edge import search
from stores.edge.shard import Shard
from stores.points import memory_of
from stores.port import MemoryFilter, RecallQuery, TenantScope
from stores.query_plan import plan_query
from tests.stores.factories import NOON, embedding, memory, put_in_shard

USER, OTHER = "ann", "ben"
WORDS = ("tea", "rain", "boats", "maps", "bread")
KINDS = ("event", "summary", "segment")


def fill(shard: Shard, *, entity_every: int, number: int = 400) -> None:
    for each in range(number):
        content = f"{WORDS[each % 5]} {WORDS[each // 5 % 5]} {each}"
        kind = "entity" if each % entity_every == 0 else "event"
        expires_at = NOON if each % 7 == 0 else None
        put_in_shard(shard, memory(content, user=OTHER if each % 3 == 0 else USER, kind=kind, expires_at=expires_at))


def found(
    shard: Shard, meaning: str, words: str = "", *, user: str | None = USER, prefetch: int = 64
) -> dict[str, tuple[float, dict[str, float]]]:
    query = RecallQuery(
        filter=MemoryFilter(scope=TenantScope("acme", user), kinds=KINDS, not_expired_at=NOON + timedelta(days=1)),
        text=words,
        embedding=embedding(meaning),
        limit=prefetch,
        prefetch=prefetch,
        explain=True,
    )
    matches = search.best(shard.recall(plan_query(query), explain=True), prefetch)
    assert {memory_of(each.record).kind for each in matches} <= {"event"}
    return {memory_of(each.record).content: (each.score, each.parts) for each in matches}


@pytest.mark.parametrize("entity_every", [2, 3, 50])
@pytest.mark.parametrize("user", [USER, None])
@pytest.mark.parametrize("prefetch", [5, 64, 300])
def test_a_rough_search_finds_the_same(
    shard: Shard, monkeypatch: pytest.MonkeyPatch, entity_every: int, user: str | None, prefetch: int
) -> None:
    fill(shard, entity_every=entity_every)
    # Each number is in one text: of equally good ones either may be a candidate.
    for meaning, words in (("tea rain", ""), ("boats", "17 34 200 201"), ("who likes maps and bread", "5 8 11 399")):
        monkeypatch.setattr(search, "MANY", 1_000_000)
        exact = found(shard, meaning, words, user=user, prefetch=prefetch)
        monkeypatch.setattr(search, "MANY", 0)
        rough = found(shard, meaning, words, user=user, prefetch=prefetch)
        assert rough.keys() == exact.keys()
        for content, (score, parts) in rough.items():
            assert score == pytest.approx(exact[content][0], abs=1e-5)
            assert parts == pytest.approx(exact[content][1], abs=1e-5)


def test_a_search_finding_mostly_entities_is_repeated(shard: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(shard, entity_every=1, number=300)
    put_in_shard(shard, memory("a quiet morning", user=USER))
    monkeypatch.setattr(search, "MANY", 0)
    assert "a quiet morning" in found(shard, "tea rain")
