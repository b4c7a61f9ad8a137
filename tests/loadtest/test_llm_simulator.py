"""The simulator: its draws follow from the seed, and its answers are what an oracle expects."""

import asyncio
import json
import signal
import sys
from pathlib import Path
from random import Random

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.answers import extraction_answer
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import PROFILES, Garble, Plan, Profile, garbled, plan_call
from loadtest.requests import ChatRequest, PrefixCache, tokens_of

ROOT = Path(__file__).parents[2]

SYSTEM = """Rules.

# Event types
## meal: What somebody ate. Key: none of it.
- calories (int64): how much
- dishes (list<string>)
## trip

# Entity types
## profile: Who somebody is
- likes (string): what they like
## tool: A tool. Key: tool_name.
- notes (string)

# Example
[0] Ann: not this
"""

USER = """<<<entities 12345678
profile
  likes: [7] not this: either
entities 12345678>>>
<<<messages 12345678
@ Mon 2024-05-06 12:00
[0] Anna: I ate 2 apples: 120 calories.
[recalled] memory: Anna likes pears.
[2] Ben: I am off to Oslo.
messages 12345678>>>
Answer with the JSON object for these messages."""


def chat_request(*contents: str, **body: object) -> ChatRequest:
    roles = ("system", "user", "assistant", "user")
    return ChatRequest.read({"messages": [{"role": role, "content": text} for role, text in zip(roles, contents, strict=False)], **body})


def test_each_message_is_an_event_the_last_a_patch() -> None:
    answer = json.loads(extraction_answer(chat_request(SYSTEM, USER)))
    first, second = answer["events"]
    assert (first["type"], first["msgs"], first["content"]) == ("meal", [0], "I ate 2 apples: 120 calories.")
    assert (first["calories"], first["dishes"]) == (2, ["I", "ate", "2"])
    assert list(second) == ["type", "msgs", "date", "content", "keywords", "weight"]
    assert answer["segments"] == [{"topic": "conversation", "ranges": [[0, 0], [2, 2]]}]
    assert answer["patches"] == [{"type": "profile", "field": "likes", "msgs": [2], "search": "", "replace": "I am off to Oslo."}]


def test_any_other_prompt_gets_an_empty_object() -> None:
    assert extraction_answer(chat_request("Summarise.", "A text.")) == "{}"


@given(st.text(max_size=200))
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(tokens_of(text)) == text


@given(st.sampled_from(sorted(PROFILES)), st.integers())
def test_a_draw_follows_from_the_seed(name: str, seed: int) -> None:
    assert plan_call(PROFILES[name], Random(seed)) == plan_call(PROFILES[name], Random(seed))


def test_drawn_shares_match_the_profile() -> None:
    profile = Profile(overloads=0.25, failures=0.1, garbles={"fenced": 0.5})
    plans = [plan_call(profile, Random(seed)) for seed in range(4000)]
    assert 0.22 < sum(plan.status == 429 for plan in plans) / 4000 < 0.28
    served = [plan for plan in plans if plan.status == 200]
    assert 0.45 < sum(plan.garble == "fenced" for plan in served) / len(served) < 0.55


@pytest.mark.parametrize("kind", ["truncated", "broken", "looping", "fenced"])
def test_a_garbled_answer_is_another(kind: Garble) -> None:
    text = extraction_answer(chat_request(SYSTEM, USER))
    assert all(garbled(text, kind, Random(seed)) != text for seed in range(50))


@pytest.mark.parametrize("kind", ["truncated", "looping", "fenced"])
def test_a_garbled_answer_is_no_longer_json(kind: Garble) -> None:
    text = extraction_answer(chat_request(SYSTEM, USER))
    for seed in range(50):
        with pytest.raises(json.JSONDecodeError):
            json.loads(garbled(text, kind, Random(seed)))


def test_a_prefix_cache_counts_whole_blocks_only() -> None:
    cache, prefix = PrefixCache(), "word " * 200
    assert cache.cached_tokens(prefix + "one") == 0
    assert 100 < cache.cached_tokens(prefix + "two") <= 200
    assert cache.cached_tokens("x" + prefix) == 0


async def post(simulator: LLMSimulator, text: str) -> httpx.Response:
    async with httpx.AsyncClient(timeout=10) as client:
        body = {"model": "m", "messages": [{"role": "user", "content": text}]}
        return await client.post(f"{simulator.base_url}/chat/completions", json=body)


async def test_outcomes_do_not_depend_on_call_order() -> None:
    profile = Profile(overloads=0.3, failures=0.3)
    statuses = []
    for order in (list(range(20)), list(reversed(range(20)))):
        async with LLMSimulator(profile=profile, seed=3) as simulator:
            statuses.append({number: (await post(simulator, f"prompt {number}")).status_code for number in order})
    assert statuses[0] == statuses[1]
    assert set(statuses[0].values()) >= {200, 429}


async def test_a_crowd_is_refused() -> None:
    async with LLMSimulator(profile=Profile(max_concurrent=2, retry_after_s=3), planner=lambda *_: Plan(first_token_s=0.3)) as simulator:
        answers = await asyncio.gather(*(post(simulator, str(number)) for number in range(6)))
        refused = [each for each in answers if each.status_code == 429]
        assert len(refused) == 4
        assert {each.headers["retry-after"] for each in refused} == {"3"}
        assert simulator.peak_concurrency == 2


async def test_the_command_serves_until_it_is_stopped() -> None:
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "loadtest.llm_simulator", "--profile", "prompt", "--seed", "5"),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert server.stdout is not None
    try:
        async with asyncio.timeout(60), httpx.AsyncClient() as client:
            address = json.loads(await server.stdout.readline())["base_url"]
            body = {"model": "m", "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]}
            answer = (await client.post(f"{address}/chat/completions", json=body)).json()
            assert len(json.loads(answer["choices"][0]["message"]["content"])["events"]) == 2
            stats = (await client.get(address.replace("/v1", "/stats"))).json()
            assert (stats["calls"], stats["different_prompts"]) == (1, 1)
            server.send_signal(signal.SIGTERM)
            assert await server.wait() == 0
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()
