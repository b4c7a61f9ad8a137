"""The chain of endpoints as the stages see it: fallbacks, hedges, breakers and limits."""

import asyncio
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan, Profile
from models.credentials import credential_watch
from models.errors import ModelConfigurationError, NotProcessedError, TransientModelError
from models.llm.gateway import LLMGateway
from models.llm.port import LLMRequest
from runtime.probe import Check
from runtime.settings import BudgetSettings, DeliverySettings, EndpointSettings
from tests.models.llm.conftest import BuildLLM, BuildRequest, Serve, Until, UsageList

FAILS = Plan(status=500)
HANGS = Plan(silent_after=0.0)
WELL = Plan()


async def insist(llm: LLMGateway, request: LLMRequest) -> str:
    """Asks until it is answered."""
    while True:
        try:
            return (await llm.complete(request)).text
        except TransientModelError as error:
            await asyncio.sleep(error.retry_after_s or 0)


class TestFallback:
    async def test_the_next_endpoint_answers_when_the_first_fails(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList
    ) -> None:
        first, second = await serve(FAILS), await serve(answer="from the second")
        answer = await llm_of(first, second).complete(ask())
        assert (answer.text, answer.model) == ("from the second", "fallback")
        assert [each.model for each in usages.records] == ["fallback"]

    async def test_only_a_healthy_first_endpoint_is_called(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first, second = await serve(), await serve()
        assert (await llm_of(first, second).complete(ask())).model == "simulated"
        assert second.requests == []

    async def test_a_broken_answer_falls_back_and_both_are_booked(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList
    ) -> None:
        first, second = await serve(Plan(cut_after=0.5), answer="word " * 20), await serve(answer="whole")
        assert (await llm_of(first, second).complete(ask())).text == "whole"
        assert [(each.model, each.estimated) for each in usages.records] == [("simulated", True), ("fallback", False)]

    async def test_the_error_names_all_failures_and_shortest_wait(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first, second = await serve(Plan(status=429, retry_after_s=20)), await serve(Plan(status=503, retry_after_s=7))
        with pytest.raises(TransientModelError, match=r"429.*503") as caught:
            await llm_of(first, second).complete(ask())
        assert caught.value.retry_after_s == 7

    @pytest.mark.parametrize(("statuses", "nobody_looked"), [((429, 429), True), ((429, 503), False), ((401, 429), False)])
    async def test_calls_never_attempted_raise_a_distinct_error(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, statuses: tuple[int, int], nobody_looked: bool
    ) -> None:
        endpoints = [await serve(Plan(status=each)) for each in statuses]
        with pytest.raises(TransientModelError) as caught:
            await llm_of(*endpoints).complete(ask())
        assert isinstance(caught.value, NotProcessedError) is nobody_looked

    async def test_a_refusal_by_all_endpoints_is_permanent(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        endpoints = await serve(Plan(status=401)), await serve(Plan(status=404))
        with pytest.raises(ModelConfigurationError, match="401"):
            await llm_of(*endpoints).complete(ask())

    async def test_a_stream_falls_back_only_before_its_first_token(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first, second = await serve(FAILS, Plan(cut_after=0.5), answer="word " * 20), await serve(answer="second")
        llm = llm_of(first, second)
        assert [piece async for piece in llm.stream(ask("one"))] == ["second"]
        with pytest.raises(TransientModelError):
            assert [piece async for piece in llm.stream(ask("two"))]

    async def test_settings_of_a_fallback_apply_only_to_it(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first, second = await serve(FAILS), await serve()
        own = EndpointSettings(
            base_url=second.base_url, model="fallback", max_completion_tokens=50, temperature=0.7, response_format="none"
        )
        await llm_of(first, fallbacks=(own,), temperature=0.2).complete(ask(json_schema={"type": "object"}))
        (asked,), (again,) = first.requests, second.requests
        assert (asked.max_tokens, asked.body["temperature"], asked.schema) == (200, 0.2, {"type": "object"})
        assert (again.max_tokens, again.body["temperature"], again.schema) == (50, 0.7, None)


class TestHedge:
    async def test_a_silent_endpoint_is_hedged_and_cancelled(
        self, serve: Serve, until: Until, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList
    ) -> None:
        first, second = await serve(HANGS), await serve(answer="quick")
        answer = await llm_of(first, second, hedge_after_s=0.05).complete(ask())
        assert answer.text == "quick"
        await until(lambda: first.outcomes["hung_up"] == 1, "the silent call is hung up on")
        assert {each.model: each.estimated for each in usages.records} == {"simulated": True, "fallback": False}

    async def test_only_a_silent_endpoint_counts_as_outrun(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, registry: CollectorRegistry
    ) -> None:
        first, second = await serve(HANGS, Plan(first_token_s=0.5)), await serve(WELL, HANGS)
        llm = llm_of(first, second, hedge_after_s=0.05)
        for number in range(2):
            await llm.complete(ask(str(number)))
        counted = {
            (sample.labels["endpoint"].partition("#")[2], sample.labels["outcome"]): sample.value
            for metric in registry.collect()
            for sample in metric.samples
            if sample.name == "varve_llm_calls_total"
        }
        assert counted == {
            ("simulated", "outrun"): 1,
            ("fallback", "answered"): 1,
            ("simulated", "answered"): 1,
            ("fallback", "hung_up"): 1,
        }

    async def test_no_hedge_when_the_first_token_is_early(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first, second = await serve(), await serve()
        assert (await llm_of(first, second, hedge_after_s=5).complete(ask())).model == "simulated"
        assert second.requests == []

    async def test_a_failed_hedge_leaves_the_first_call_running(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first, second = await serve(Plan(first_token_s=0.5), answer="slow but sure"), await serve(FAILS)
        assert (await llm_of(first, second, hedge_after_s=0.05).complete(ask())).text == "slow but sure"
        assert len(second.requests) == 1

    async def test_hedged_calls_release_their_leases(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first, second = await serve(HANGS, HANGS, WELL), await serve()
        llm = llm_of(first, second, hedge_after_s=0.05, concurrency=1, queue_timeout_s=5)
        for number in range(3):
            await llm.complete(ask(str(number)))
        assert len(first.requests) == 3


class TestBreaker:
    async def test_an_open_breaker_skips_the_endpoint(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first, second = await serve(FAILS), await serve()
        llm = llm_of(first, second, delivery=DeliverySettings(breaker_failures=2, breaker_reset_s=60))
        for number in range(5):
            await llm.complete(ask(str(number)))
        assert len(first.requests) == 2
        assert len(second.requests) == 5

    async def test_a_breaker_closes_after_a_successful_trial(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first = await serve(FAILS, WELL)
        llm = llm_of(first, delivery=DeliverySettings(breaker_failures=1, breaker_reset_s=0.2))
        with pytest.raises(TransientModelError, match="500"):
            await llm.complete(ask())
        with pytest.raises(NotProcessedError, match="circuit breaker") as meanwhile:
            await llm.complete(ask())
        assert 0 < (meanwhile.value.retry_after_s or 0) <= 0.2

        async with asyncio.timeout(60):
            assert await insist(llm, ask()) == "yes"


class TestServes:
    async def test_a_word_is_served_past_an_open_breaker(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList
    ) -> None:
        first = await serve(FAILS, WELL)
        llm = llm_of(first, delivery=DeliverySettings(breaker_failures=1, breaker_reset_s=60))
        with pytest.raises(TransientModelError, match="500"):
            await llm.complete(ask())
        assert [await llm.serves("acme", stage="merging") for _ in range(2)] == [True, True], "no answer is kept"
        assert [each[0] for each in first.requests[-1].messages] == ["user"]
        assert [(each.tenant, each.stage, each.purpose) for each in usages.records] == [("acme", "merging", "probe")] * 2
        assert (await llm.complete(ask())).text == "yes"

    @pytest.mark.parametrize("status", [400, 401, 429, 500])
    async def test_an_endpoint_that_answers_nothing_serves_no_tenant(self, serve: Serve, llm_of: BuildLLM, status: int) -> None:
        first, second = await serve(Plan(status=status)), await serve(Plan(status=status), WELL)
        llm = llm_of(first, second)
        assert [await llm.serves("acme", stage="merging") for _ in range(2)] == [False, True]

    async def test_a_used_up_budget_pays_for_no_word(self, serve: Serve, llm_of: BuildLLM) -> None:
        endpoint = await serve()
        assert not await llm_of(endpoint, budget=BudgetSettings(hard_tokens=1)).serves("acme", stage="merging")
        assert endpoint.requests == []


class TestCredentials:
    @pytest.mark.parametrize("status", [401, 403])
    async def test_a_refused_key_is_shown_until_accepted(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, status: int) -> None:
        endpoint = await serve(*[Plan(status=status)] * 3, Plan())
        llm = llm_of(endpoint, delivery=DeliverySettings(breaker_failures=10))
        for number in range(3):
            assert _problem_of(endpoint) is None
            with pytest.raises(ModelConfigurationError, match=str(status)):
                await llm.complete(ask(str(number)))
        assert "VARVE_LLM__API_KEY" in (_problem_of(endpoint) or "")
        assert not credential_watch().checks()["llm_credentials"].needed

        await llm.complete(ask("again"))
        assert _problem_of(endpoint) is None

    async def test_a_refused_key_opens_the_circuit_breaker(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        endpoint = await serve(*[Plan(status=401)] * 20)
        llm = llm_of(endpoint, delivery=DeliverySettings(breaker_failures=4))
        for number in range(20):
            with pytest.raises((ModelConfigurationError, NotProcessedError)):
                await llm.complete(ask(str(number)))
        assert len(endpoint.requests) == 4


def _problem_of(endpoint: Any) -> str | None:
    address = endpoint.base_url.removeprefix("http://")
    problem = credential_watch().checks().get("llm_credentials", Check(ok=True)).problem
    return problem if problem and address in problem else None


class TestLimits:
    async def test_calls_keep_the_concurrency_limit(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        endpoint = await serve(Plan(first_token_s=0.02))
        llm = llm_of(endpoint, concurrency=3)
        await asyncio.gather(*(llm.complete(ask(str(number))) for number in range(20)))
        assert endpoint.peak_concurrency == 3

    async def test_a_call_without_a_lease_is_transient(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        endpoint = await serve()
        llm = llm_of(endpoint, requests_per_minute=1, queue_timeout_s=30)
        await llm.complete(ask("one"))
        with pytest.raises(NotProcessedError, match="no free lease") as caught:
            await llm.complete(ask("two"))
        assert 55 < (caught.value.retry_after_s or 0) <= 61

    async def test_unused_tokens_are_returned(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        endpoint = await serve()
        llm = llm_of(endpoint, tokens_per_minute=400, queue_timeout_s=2)
        for number in range(5):
            await llm.complete(ask(str(number)))


async def test_under_chaos_each_question_is_paid_for_once(llm_of: BuildLLM, ask: BuildRequest) -> None:
    chaos = Profile(overloads=0.2, retry_after_s=0.01, failures=0.1, cuts=0.1)
    async with LLMSimulator(profile=chaos, seed=7, answer=lambda _: "word " * 10) as endpoint:
        llm = llm_of(endpoint, delivery=DeliverySettings(breaker_failures=100))
        async with asyncio.timeout(60):
            texts = await asyncio.gather(*(insist(llm, ask(f"question {number}")) for number in range(40)))
        assert texts == ["word " * 10] * 40
        assert endpoint.outcomes["stop"] == 40
        assert endpoint.outcomes["429"] > 0
