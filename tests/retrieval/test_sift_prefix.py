"""A real server (llama.cpp with Gemma 3 270M) has the history of a user's second query in its cache."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory.texts.text import estimate_tokens
from retrieval.errors import RecallModelError
from retrieval.request import SiftOptions
from retrieval.session_ranking.prompt import prompt_of
from stores.edge.client import EdgeStore
from tests.retrieval.sifting import ASKED, read, sifting
from tests.stores.factories import NOON, memory
from tests.usage_list import UsageList

pytestmark = [pytest.mark.integration, pytest.mark.local_llm]

TURNS = [
    memory(f"On walk number {number} Ann saw {number + 2} herons near the bridge.", user="ann", session=f"s{number % 6}", event_time=at)
    for number in range(12)
    for at in [NOON + timedelta(days=number % 6, minutes=number)]
]


@pytest.mark.timeout(280)
async def test_a_second_query_finds_its_history_cached(edge_store: EdgeStore, redis_url: str, local_llm: dict[str, str]) -> None:
    usages = UsageList()
    limits: dict[str, Any] = {"deadline_s": 60, "max_completion_tokens": 64, "history_tokens": 3000}
    base_url, model = local_llm["base_url"], local_llm["model"]
    async with sifting(edge_store, redis_url, usages=usages, more=TURNS, base_url=base_url, model=model, **limits) as sift:
        history = await read(sift)
        for query, sessions in (("Who has a red bicycle?", 10), ("How many herons were near the bridge?", 3)):
            asked = replace(ASKED, query=query, sift=SiftOptions(sessions=sessions, reasoning=False))
            # This base model ranks nothing: only the prompt's tokens are of interest.
            with suppress(RecallModelError):
                await sift.rank(asked, history, limit=3)
    shared = prompt_of(history.sessions, "?")[1].content.partition("<query>")[0]
    first, second = usages
    assert not first.estimated
    assert first.cached_tokens < 100
    assert second.cached_tokens > 0.8 * estimate_tokens(shared) > 300
