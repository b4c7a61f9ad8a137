"""``python -m evaluation locomo`` on a made-up conversation in LoCoMo's form, with the real embedding model and the real store."""

import argparse
import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation.locomo import TENANT
from evaluation.recall.asking import recalled, scored_candidates
from evaluation.recall.baselines import baseline_rankings
from evaluation.recall.command import add_arguments, run
from evaluation.recall.corpus import filled_store
from loadtest.llm_simulator import LLMSimulator
from runtime.settings import Settings
from stores.port import TenantScope
from tests.evaluation.conversations import conversation

pytestmark = pytest.mark.integration


def measured(folder: Path, conversations: list[dict[str, Any]], **given: Any) -> dict[str, Any]:
    data = folder / "conversations.json"
    data.write_bytes(orjson.dumps(conversations))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    replies = folder / "replies.jsonl"
    return run(argparse.Namespace(**{**vars(parser.parse_args([])), "data": data, "replies": replies, "model": "simulated", **given}))


@pytest.mark.parametrize("aged_days", [None, 400])
def test_every_way_of_ranking_is_measured(tmp_path: Path, aged_days: int | None) -> None:
    report = measured(tmp_path, [conversation("one"), conversation("two")], aged_days=aged_days)
    overall = report["overall"]
    assert (overall["questions"], overall["recall_at_10"], overall["hit_at_5"]) == (4, 1.0, 1.0)
    assert set(report["ways"]) == {"learned", "weighted", "memx", "dense", "bm25", "late", "rrf", "keyword_graph", "raw_turns"}
    assert {each["questions"] for each in report["ways"].values()} == {4}
    assert report["budgets"]["500"]["all_evidence"] == 1.0
    assert report["categories"]["5"]["questions"] == 2
    assert {profile: {*each} for profile, each in report["rejection"].items()} == {
        "learned": {"min_confidence", "score", "at_thresholds"},
        "weighted": {"min_confidence", "min_origin_score"},
        "memx": {"min_confidence", "score"},
    }
    assert {each["min_confidence"]["questions"] for each in report["rejection"].values()} == {4 + 2 + 4}
    assert (report["aged_days"], report["stored_tokens_to_raw"] > 0) == (aged_days, True)
    assert len(report["data_sha256"]) == 64


async def test_entities_are_neither_ranked_nor_fitted(tmp_path: Path) -> None:
    data = tmp_path / "conversations.json"
    data.write_bytes(orjson.dumps([conversation("one")]))
    settings = Settings()
    async with filled_store(data, settings) as corpus:
        asked, scope = corpus.conversations[0], TenantScope(TENANT, "one")
        question = asked.questions[0]
        stored = {each.kind for each in await corpus.store.scroll(scope)}
        hits = (await recalled(corpus, settings, asked, question, profile="learned")).hits
        candidates = (await scored_candidates(corpus, asked.user, question.text, prefetch=64, asked_at=asked.asked_at)).found
        rankings = await baseline_rankings(corpus.store, corpus.embedder, scope, question.text)
    assert stored == {"event", "entity"}
    assert {each.memory.kind for each in hits} == {each.memory.kind for each in candidates} == {"event"}
    assert {each.kind for ranking in rankings.values() for each in ranking} == {"event"}


def test_long_questions_find_what_short_ones_find(tmp_path: Path) -> None:
    report = measured(tmp_path, [conversation("one")], long_questions=True)
    assert (report["ways"]["long_questions"]["questions"], report["ways"]["long_questions"]["recall_at_10"]) == (2, 1.0)


def test_expanded_queries_are_measured_separately(tmp_path: Path) -> None:
    vague = {"question": "What went wrong for somebody lately?", "category": 1, "evidence": ["D1:4"]}
    silent = {"question": "What is the name of Ann's cat?", "category": 4, "evidence": ["D1:1"]}
    conversations = [{**conversation(user), "qa": [vague, silent]} for user in ("one", "two")]

    async def both() -> tuple[dict[str, Any], int]:
        def sentences(asked: Any) -> str:
            return "Tom broke his arm while climbing." if vague["question"] in asked.prompt else ""

        async with LLMSimulator(answer=sentences) as model:
            report = await asyncio.to_thread(measured, tmp_path, conversations, expand=model.base_url)
            return report, len(model.requests)

    report, calls = asyncio.run(both())
    assert calls == 2, "each question's text is expanded once"
    ways = report["ways"]
    assert ways["expanded"]["questions"] == 4
    assert ways["learned"]["mrr"] < 1
    assert ways["expanded"]["mrr"] == 1
    assert "expanded" not in measured(tmp_path, conversations)["ways"]
