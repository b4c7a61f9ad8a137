"""Recalls without one of their parts: each part is actually disabled, with the real embedding model and the real store."""

import argparse
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from evaluation.locomo import TENANT
from evaluation.recall.ablation import SEARCHES, altered, without_time
from evaluation.recall.asking import recalled
from evaluation.recall.command import add_arguments, run
from evaluation.recall.corpus import Corpus, filled_store
from retrieval.query.query_embedding import embed_question
from retrieval.request import RecallHit, RecallResponse
from runtime.settings import Settings
from stores.port import MemoryFilter, RecallQuery, ScoredMemory, TenantScope
from tests.evaluation.conversations import conversation
from tests.stores.factories import memory

QUESTION = "What is the name of the cat that Ann adopted?"


@pytest.fixture
async def corpus(tmp_path: Path) -> AsyncIterator[Corpus]:
    data = tmp_path / "conversations.json"
    data.write_bytes(orjson.dumps([conversation("one")]))
    async with filled_store(data, Settings()) as filled:
        yield filled


async def question_to(corpus: Corpus) -> RecallQuery:
    embedding = await embed_question(corpus.embedder, QUESTION)
    return RecallQuery(
        filter=MemoryFilter(scope=TenantScope(TENANT, "one"), kinds=("event",)), text=QUESTION, embedding=embedding, explain=True
    )


async def without(corpus: Corpus, part: str) -> list[ScoredMemory]:
    return await SEARCHES[part](corpus.store, corpus.embedder, await question_to(corpus))


@pytest.mark.integration
@pytest.mark.parametrize("part", ["bm25", "dense", "late"])
async def test_a_search_runs_without_a_score(corpus: Corpus, part: str) -> None:
    whole = await corpus.store.recall(await question_to(corpus))
    found = await without(corpus, part)
    assert part in whole[0].parts
    assert found
    assert all(part not in each.parts and len(each.parts) >= 1 for each in found)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert all(0 <= each.score <= 1 for each in found)


@pytest.mark.integration
async def test_without_dense_only_shared_words_make_a_candidate(corpus: Corpus) -> None:
    whole = await corpus.store.recall(await question_to(corpus))
    assert {each.memory.id for each in await without(corpus, "dense")} == {each.memory.id for each in whole if "bm25" in each.parts}
    assert any("bm25" not in each.parts for each in whole)


@pytest.mark.integration
async def test_without_the_first_person_is_as_asked(corpus: Corpus) -> None:
    query = await question_to(corpus)
    as_asked = await corpus.store.recall(replace(query, embedding=await corpus.embedder.embed_query(QUESTION)))
    found = await without(corpus, "first_person")
    assert [each.parts["late"] for each in found] == [each.parts["late"] for each in as_asked]
    assert found[0].parts["late"] < (await corpus.store.recall(query))[0].parts["late"]


@pytest.mark.integration
async def test_without_deduplication_each_duplicate_is_a_result(tmp_path: Path) -> None:
    twice = conversation("one")
    said = twice["conversation"]
    said |= {"session_2_date_time": "5:02 pm on 8 May, 2023", "session_2": [{**said["session_1"][3], "dia_id": "D2:1"}]}
    data = tmp_path / "conversations.json"
    data.write_bytes(orjson.dumps([twice]))
    settings = Settings()
    async with filled_store(data, settings) as corpus:
        asked = corpus.conversations[0], corpus.conversations[0].questions[0]
        whole = await recalled(corpus, settings, *asked, profile="learned")
        found = await recalled(altered(corpus, SEARCHES["deduplication"]), settings, *asked, profile="learned")
    assert (whole.duplicates, found.duplicates) == (1, 0)
    assert len(found.hits) == len(whole.hits) + 1


@pytest.mark.integration
def test_the_command_measures_each_part(tmp_path: Path) -> None:
    data = tmp_path / "conversations.json"
    data.write_bytes(orjson.dumps([conversation("one"), conversation("two")]))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    report = run(argparse.Namespace(**vars(parser.parse_args(["--ablation"])), data=data))
    found = report["ablation"]
    assert found.keys() == {*SEARCHES, "time_prior", "ranking_model", "prefetch_32", "prefetch_128"}
    assert {each["questions"] for each in found.values()} == {report["overall"]["questions"]}
    assert found["ranking_model"]["mrr"] == report["ways"]["weighted"]["mrr"]
    assert found["late"]["difference"]["mrr"] == pytest.approx(found["late"]["mrr"] - report["overall"]["mrr"], abs=2e-4)


def hit(number: int, score: float, **parts: float) -> RecallHit:
    found = memory(f"{number}", message_ids=[f"m{number}"], event_time=datetime(2024, 5, number, tzinfo=UTC))
    return RecallHit(found, score, parts, (f"m{number}",), (score,))


def test_without_time_the_other_scores_order_results() -> None:
    learned = [hit(1, 0.9, ranking_late=0.5, ranking_time=1.5), hit(2, 0.8, ranking_late=1.0, ranking_time=0.0)]
    weighted = [hit(1, 0.9, late=9.0, prior_time=0.2), hit(2, 0.8, late=8.0), hit(3, 0.1, late=1.0)]
    assert without_time(RecallResponse(hits=tuple(learned))) == ["m2", "m1"]
    assert without_time(RecallResponse(hits=tuple(weighted))) == ["m2", "m1", "m3"]
