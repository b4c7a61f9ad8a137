"""A cached reply answers only its own question."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluation import cached_llm
from evaluation.cached_llm import KeptLLM, KeptReplies
from models.llm.port import ChatMessage, LLMAnswer, LLMRequest
from runtime.settings import Settings

ASKED = LLMRequest(messages=(ChatMessage("user", "Who?"),), tenant="t", stage="evaluation", json_schema={"type": "object"}, max_tokens=100)


class CountingLLM:
    model = "m"

    async def complete(self, request: LLMRequest) -> LLMAnswer:
        await asyncio.sleep(0)
        return LLMAnswer(text=f"{request.json_schema} {request.max_tokens}", model="m", is_estimated=request.max_tokens == 50)


@pytest.mark.parametrize("change", [{"json_schema": {"type": "array"}}, {"json_schema": None}, {"max_tokens": 50}, {"max_tokens": None}])
async def test_another_schema_or_length_is_another_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    monkeypatch.setattr(cached_llm, "build_llm", lambda *_, **__: CountingLLM())
    llm = KeptLLM(Settings(), kept=KeptReplies(tmp_path / "replies.jsonl"), purpose="a test")
    first = await llm.complete(ASKED)
    changed = replace(ASKED, **change)
    assert (await llm.complete(changed)).text == f"{changed.json_schema} {changed.max_tokens}" != first.text
    assert (await llm.complete(ASKED)).text == first.text
    assert llm.asked == 2


async def test_a_kept_reply_remembers_estimated_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_llm, "build_llm", lambda *_, **__: CountingLLM())
    for _ in ("asked", "kept"):
        llm = KeptLLM(Settings(), kept=KeptReplies(tmp_path / "replies.jsonl"), purpose="a test")
        assert (await llm.complete(replace(ASKED, max_tokens=50))).is_estimated
        assert not (await llm.complete(ASKED)).is_estimated
    assert llm.asked == 0


async def test_equal_prompts_at_once_are_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_llm, "build_llm", lambda *_, **__: CountingLLM())
    kept, turn = KeptReplies(tmp_path / "replies.jsonl"), asyncio.Semaphore(8)
    one, other = (KeptLLM(Settings(), kept=kept, purpose="a test", turn=turn) for _ in range(2))
    await asyncio.gather(*(llm.complete(ASKED) for llm in (one, other, one)))
    assert (one.asked + other.asked, one.spent.calls, other.spent.calls) == (1, 2, 1)
