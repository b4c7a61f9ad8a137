"""Answer cache, budgets and accounts: each call is paid for once, within the tenant's budget, and recorded."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from loadtest.profiles import Plan
from models.errors import BudgetExceededError, ModelConfigurationError, TransientModelError
from models.llm.budget import Amount
from models.llm.build import build_llm
from models.llm.daily_budget import BudgetLedger
from models.llm.gateway import LLMGateway
from models.llm.port import LLMRequest
from runtime.clocks import ManualClock
from runtime.redis.client import GuardedRedis
from runtime.settings import BudgetSettings, DeliverySettings, LLMSettings, Settings
from tests.models.llm.conftest import BuildLLM, BuildRequest, Serve, Until, UsageList

FAILS = Plan(status=500)
HANGS = Plan(silent_after=0.0)
WELL = Plan()


async def ask_in_turn(llm: LLMGateway, requests: Sequence[LLMRequest]) -> None:
    for request in requests:
        await llm.complete(request)


class TestAnswerCache:
    async def test_the_same_question_is_paid_for_once(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList) -> None:
        endpoint = await serve(answer="once")
        llm = llm_of(endpoint)
        first, again = await llm.complete(ask()), await llm.complete(ask())
        assert (first.from_cache, again.from_cache) == (False, True)
        assert (again.text, again.usage) == (first.text, first.usage)
        assert [piece async for piece in llm.stream(ask())] == ["once"]
        assert len(endpoint.requests) == len(usages.records) == 1

    async def test_tenant_schema_length_and_attempt_separate_questions(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        endpoint = await serve()
        llm = llm_of(endpoint)
        for request in (ask(), ask(tenant="other"), ask(json_schema={"type": "object"}), ask(max_tokens=5), ask(attempt=1), ask("other")):
            assert not (await llm.complete(request)).from_cache
        assert len(endpoint.requests) == 6

    async def test_concurrent_equal_questions_share_one_call(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList
    ) -> None:
        endpoint = await serve(Plan(first_token_s=0.1))
        llm = llm_of(endpoint)
        answers = await asyncio.gather(*(llm.complete(ask()) for _ in range(5)))
        assert {each.text for each in answers} == {"yes"}
        assert len(endpoint.requests) == len(usages.records) == 1

    async def test_a_cancelled_caller_does_not_cancel_the_others(
        self, serve: Serve, until: Until, llm_of: BuildLLM, ask: BuildRequest
    ) -> None:
        endpoint = await serve(Plan(first_token_s=0.2))
        llm = llm_of(endpoint)
        impatient, patient = asyncio.create_task(llm.complete(ask())), asyncio.create_task(llm.complete(ask()))
        await until(lambda: len(endpoint.requests) == 1, "the call is out")
        impatient.cancel()
        assert (await patient).text == "yes"
        assert len(endpoint.requests) == 1

    async def test_a_call_is_cancelled_with_its_last_caller(
        self, serve: Serve, until: Until, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList
    ) -> None:
        endpoint = await serve(HANGS, WELL)
        llm = llm_of(endpoint, concurrency=1, queue_timeout_s=5)
        caller = asyncio.create_task(llm.complete(ask()))
        await until(lambda: len(endpoint.requests) == 1, "the call is out")
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        await until(lambda: len(usages.records) == 1, "the call is accounted for")
        assert (await llm.complete(ask())).text == "yes"

    async def test_a_stream_closed_early_is_booked_but_not_cached(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList
    ) -> None:
        endpoint = await serve(answer="word " * 20)
        llm = llm_of(endpoint)
        stream = llm.stream(ask())
        assert await anext(stream)
        await stream.aclose()
        assert [each.estimated for each in usages.records] == [True]
        assert not (await llm.complete(ask())).from_cache

    async def test_a_truncated_answer_is_booked_and_cached(
        self, serve: Serve, until: Until, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, registry: CollectorRegistry
    ) -> None:
        endpoint = await serve(Plan(token_s=0.001), answer="word " * 20_000)
        llm = llm_of(endpoint, max_completion_tokens=20_000, budget=BudgetSettings(hard_tokens=21_000))
        shown: list[int] = []

        def stop_when(text: str) -> bool:
            shown.append(len(text))
            return len(text) > 1000

        first = await llm.complete(ask(stop_when=stop_when))
        await until(lambda: endpoint.outcomes["hung_up"] == 1, "the endpoint is hung up on")
        again = await llm.complete(ask(stop_when=stop_when))

        assert [length // 400 for length in shown] == [1, 2, 3], "it is looked at every few hundred characters"
        assert (first.finish_reason, len(first.text), again.text, again.from_cache) == ("length", shown[-1], first.text, True)
        (usage,) = usages.records
        assert (usage.estimated, usage.completion_tokens) == (True, first.usage.completion_tokens)
        assert 200 < usage.completion_tokens < 400
        outcomes = {"endpoint": f"{endpoint.base_url.removeprefix('http://')}#simulated", "outcome": "cut_short"}
        assert registry.get_sample_value("varve_llm_calls_total", outcomes) == 1
        await llm.complete(ask("What is left of the budget?", stop_when=stop_when))

    async def test_a_failure_is_not_cached(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        endpoint = await serve(FAILS, WELL)
        llm = llm_of(endpoint)
        with pytest.raises(TransientModelError):
            await llm.complete(ask())
        assert (await llm.complete(ask())).text == "yes"

    async def test_the_answer_cache_can_be_disabled(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        endpoint = await serve()
        llm = llm_of(endpoint, cache_ttl_s=0)
        for _ in range(2):
            assert not (await llm.complete(ask())).from_cache


class TestBudget:
    async def test_no_call_exceeds_the_hard_budget(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, clock: ManualClock
    ) -> None:
        endpoint = await serve(answer="word " * 100)
        llm = llm_of(endpoint, budget=BudgetSettings(hard_tokens=1000))
        with pytest.raises(BudgetExceededError) as refused:
            await ask_in_turn(llm, [ask(str(number)) for number in range(100)])
        assert refused.value.retry_after_s == 12 * 3600, "the next day begins in 12 hours"
        assert refused.value.kind == "hard"
        used = sum(each.prompt_tokens + each.completion_tokens for each in usages.records)
        assert 700 < used <= 1000
        await llm.complete(ask(tenant="other"))
        clock.advance(timedelta(hours=12))
        await llm.complete(ask("tomorrow"))

    async def test_concurrent_calls_keep_the_hard_budget(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList
    ) -> None:
        endpoint = await serve(Plan(first_token_s=0.05), answer="word " * 100)
        llm = llm_of(endpoint, budget=BudgetSettings(hard_tokens=1000))
        outcomes = await asyncio.gather(*(llm.complete(ask(str(number))) for number in range(20)), return_exceptions=True)
        assert any(isinstance(each, BudgetExceededError) for each in outcomes)
        assert sum(each.prompt_tokens + each.completion_tokens for each in usages.records) <= 1000

    async def test_past_the_soft_budget_deferrable_calls_wait(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, clock: ManualClock
    ) -> None:
        endpoint = await serve()
        llm = llm_of(endpoint, budget=BudgetSettings(soft_tokens=1, off_peak_start_hour=22))
        await llm.complete(ask("within"))
        await llm.complete(ask("urgent"))
        with pytest.raises(BudgetExceededError) as deferred:
            await llm.complete(ask("later", deferrable=True))
        assert deferred.value.kind == "soft"
        assert deferred.value.retry_after_s == 10 * 3600
        clock.advance(timedelta(hours=10))
        await llm.complete(ask("later", deferrable=True))

    async def test_a_budget_can_be_a_cost(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, tmp_path: Path
    ) -> None:
        prices = tmp_path / "prices.json"
        prices.write_text('{"simulated": {"prompt": 1000, "completion": 10000}}')
        endpoint = await serve(answer="word " * 100)
        llm = llm_of(endpoint, price_table=prices, budget=BudgetSettings(hard_cost=5))
        with pytest.raises(BudgetExceededError):
            await ask_in_turn(llm, [ask(str(number)) for number in range(100)])
        assert 3 < sum(each.cost for each in usages.records) <= 5

    async def test_a_dearer_fallback_keeps_the_budget(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, tmp_path: Path
    ) -> None:
        prices = tmp_path / "prices.json"
        prices.write_text('{"simulated": {"prompt": 1, "completion": 1}, "fallback": {"prompt": 1, "completion": 100000}}')
        first, second = await serve(FAILS), await serve()
        llm = llm_of(first, second, price_table=prices, budget=BudgetSettings(hard_cost=1))
        with pytest.raises(BudgetExceededError, match="500") as refused:
            await llm.complete(ask())
        assert (len(first.requests), second.requests, usages.records) == (1, [], [])
        assert not refused.value.offline, "the first endpoint is worth waiting for"

    async def test_a_budget_is_waited_for_during_an_outage(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first, second = await serve(FAILS), await serve(FAILS)
        budget = BudgetSettings(hard_tokens=300, policy="offline")
        llm = llm_of(first, second, budget=budget, delivery=DeliverySettings(breaker_failures=1, breaker_reset_s=60))
        with pytest.raises(TransientModelError):
            await llm.complete(ask())
        (guarded, _) = llm._endpoints
        guarded.breaker.record_success()
        with pytest.raises(BudgetExceededError, match="circuit breaker") as refused:
            await llm.complete(ask(max_tokens=200, text="long " * 400))
        assert refused.value.offline
        assert refused.value.retry_after_s <= 60

    async def test_tokens_are_counted_by_tenant(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, registry: CollectorRegistry
    ) -> None:
        await llm_of(await serve()).complete(ask())
        (usage,) = usages.records
        counted = registry.get_sample_value("varve_tenant_llm_tokens_total", {"tenant": "other"})
        assert counted == usage.prompt_tokens + usage.completion_tokens > 0

    async def test_a_hedged_call_keeps_the_budget(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList) -> None:
        first, second = await serve(Plan(first_token_s=0.3), answer="slow but sure"), await serve()
        llm = llm_of(first, second, hedge_after_s=0.05, budget=BudgetSettings(hard_tokens=300))
        assert (await llm.complete(ask())).text == "slow but sure"
        assert (len(first.requests), second.requests) == (1, [])

    async def test_a_failed_call_releases_its_reservation(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest) -> None:
        first, second = await serve(FAILS), await serve()
        llm = llm_of(first, second, budget=BudgetSettings(hard_tokens=300))
        assert (await llm.complete(ask())).model == "fallback"

    async def test_each_tenant_has_its_own_budget(self) -> None:
        budgets = {"free": BudgetSettings(hard_tokens=10, policy="offline"), "paying": BudgetSettings()}
        ledger = BudgetLedger(budget_of=budgets.__getitem__, redis=GuardedRedis(client=None, prefix="varve:"))
        noon = datetime(2024, 5, 6, 12, tzinfo=UTC)
        await ledger.reserve("paying", Amount(1000), deferrable=True, now=noon)
        with pytest.raises(BudgetExceededError) as refused:
            await ledger.reserve("free", Amount(11), deferrable=True, now=noon)
        assert refused.value.offline

    def test_a_cost_budget_without_prices_is_refused(self, usages: UsageList) -> None:
        settings = Settings(llm=LLMSettings(base_url="http://localhost/v1", model="m"), budget=BudgetSettings(hard_cost=1))
        with pytest.raises(ModelConfigurationError, match="PRICE_TABLE"):
            build_llm(settings, redis=None, usage=usages)


class TestAccounts:
    async def test_a_usage_record_names_tenant_and_purpose(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, clock: ManualClock, tmp_path: Path
    ) -> None:
        prices = tmp_path / "prices.json"
        prices.write_text('{"simulated": {"prompt": 2, "completion": 8}}')
        endpoint = await serve()
        answer = await llm_of(endpoint, price_table=prices).complete(ask(purpose="repair", subject="window-1"))
        (usage,) = usages.records
        assert (usage.tenant, usage.stage, usage.purpose, usage.subject) == ("acme", "extraction", "repair", "window-1")
        assert (usage.model, usage.time, usage.calls) == ("simulated", clock.now(), 1)
        assert usage.cost == answer.cost == (2 * usage.prompt_tokens + 8 * usage.completion_tokens) / 1e6
        assert usage.cost > 0

    async def test_a_repeated_prefix_counts_as_cached(self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList) -> None:
        endpoint = await serve()
        llm = llm_of(endpoint)
        for ending in ("one", "two"):
            await llm.complete(ask("What everybody is told. " * 40 + ending))
        assert usages.records[0].cached_tokens == 0
        assert 0 < usages.records[1].cached_tokens <= usages.records[1].prompt_tokens

    async def test_an_answer_survives_a_failing_usage_sink(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, registry: CollectorRegistry
    ) -> None:
        endpoint = await serve()
        usages.fault = OSError("no broker")
        assert (await llm_of(endpoint).complete(ask())).text == "yes"
        assert registry.get_sample_value("varve_llm_usage_unrecorded_total") == 1

    async def test_metrics_agree_with_usage_records(
        self, serve: Serve, llm_of: BuildLLM, ask: BuildRequest, usages: UsageList, registry: CollectorRegistry
    ) -> None:
        first, second = await serve(FAILS), await serve()
        llm = llm_of(first, second)
        await llm.complete(ask())
        await llm.complete(ask())
        tokens = {kind: registry.get_sample_value("varve_llm_tokens_total", {"stage": "extraction", "model": "fallback", "kind": kind})
                  for kind in ("prompt", "cached", "completion")}  # fmt: skip
        (usage,) = usages.records
        assert tokens == {"prompt": usage.prompt_tokens, "cached": 0, "completion": usage.completion_tokens}
        assert registry.get_sample_value("varve_llm_answers_total", {"source": "cache"}) == 1
        outcomes = {
            sample.labels["outcome"]: sample.value
            for metric in registry.collect()
            for sample in metric.samples
            if sample.name == "varve_llm_calls_total"
        }
        assert outcomes == {"failed": 1, "answered": 1}
