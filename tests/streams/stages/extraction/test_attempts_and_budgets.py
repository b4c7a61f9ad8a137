"""A window with unusable answers is tried again, and one beyond the soft budget waits."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from control.tenant_changes import set_tenant
from control.tenants import TenantDirectory
from extraction.errors import UnusableAnswerError
from extraction.port import ExtractionContext
from loadtest.answers import extraction_answer
from loadtest.requests import ChatRequest
from memory.headers import ORIGIN
from memory.records import Extraction, Window
from memory.schema.model import MemorySchema
from runtime.clocks import ManualClock
from runtime.settings import BudgetSettings, LLMSettings, Settings
from streams.errors import PoisonRecordError, TransientError
from streams.stages.model_calls import TenantBudgets
from tests.control_log import known_tenants, now_known
from tests.streams.agent_extractions import SCHEMA, TENANT
from tests.streams.harness import plain_settings
from tests.streams.stages.extraction.doubles import ScriptedExtractor, llm_extractor, new_handler, window_record


class EventuallyAnswering(ScriptedExtractor):
    """Gives unusable answers, each with its own text, and then an extraction."""

    def __init__(self, bad_answers: int) -> None:
        super().__init__()
        self.bad_answers = bad_answers

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        extraction = await super().extract(window, schema, context)
        if len(self.contexts) <= self.bad_answers:
            raise UnusableAnswerError("no JSON", raw=f"answer {context.attempt}")
        return extraction

    @property
    def attempts(self) -> list[int]:
        return [context.attempt for context in self.contexts]


async def test_a_second_attempt_saves_a_bad_first_answer(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = EventuallyAnswering(bad_answers=1)
    (output,) = await new_handler(settings, tenants, extractor).handle(window_record())
    assert Extraction.from_json(output.value or b"").sequence == 3
    assert extractor.attempts == [0, 1]


async def test_attempts_end_in_a_dead_letter_and_repeat_identically(tmp_path: Path, tenants: TenantDirectory) -> None:
    settings = plain_settings(tmp_path, extraction={"attempts": 2})
    for _ in range(2):
        extractor = EventuallyAnswering(bad_answers=9)
        with pytest.raises(PoisonRecordError) as poison:
            await new_handler(settings, tenants, extractor).handle(window_record())
        assert (poison.value.reason, poison.value.raw_answer) == ("bad_answer", "answer 1")
        assert extractor.attempts == [0, 1]


async def test_a_redriven_window_uses_new_attempts(settings: Settings, tenants: TenantDirectory) -> None:
    attempts: list[int] = []
    for offset in range(3):
        extractor = EventuallyAnswering(bad_answers=9)
        headers = ((ORIGIN, b"varve.windows/0/0"),) if offset else ()
        with pytest.raises(PoisonRecordError):
            await new_handler(settings, tenants, extractor).handle(replace(window_record(), offset=offset, headers=headers))
        attempts += extractor.attempts
    assert len(set(attempts)) == len(attempts) == 3 * settings.extraction.attempts


async def test_a_redelivered_window_pays_for_no_attempt_twice(settings: Settings, tenants: TenantDirectory) -> None:
    async with llm_extractor(settings, lambda _: "I would rather not.") as (extractor, simulator):
        stage = new_handler(settings, tenants, extractor)
        for _ in range(2):
            with pytest.raises(PoisonRecordError) as poison:
                await stage.handle(window_record())
            assert "I would rather not." in (poison.value.raw_answer or "")
    assert len(simulator.requests) == 2 * settings.extraction.attempts, "an answer and its repair, each attempt"


@pytest.mark.parametrize("policy", ["wait", "offline"])
async def test_a_window_past_the_soft_budget_waits(settings: Settings, tenants: TenantDirectory, policy: str) -> None:
    budget = BudgetSettings.model_validate({"soft_tokens": 0, "policy": policy, "off_peak_start_hour": 22})
    clock = ManualClock(datetime(2024, 5, 1, 12, tzinfo=UTC))
    async with llm_extractor(settings, extraction_answer, budget=budget, clock=clock) as (extractor, simulator):
        stage = new_handler(settings, tenants, extractor)
        (within,) = await stage.handle(window_record())
        with pytest.raises(TransientError) as deferred:
            await stage.handle(window_record(text="hello"))
        assert (deferred.value.dependency, deferred.value.retry_after_s, deferred.value.counts_as_attempt) == ("budget", 10 * 3600, False)
        assert len(simulator.requests) == 1
        clock.advance(timedelta(hours=10))
        (later,) = await stage.handle(window_record(text="hello"))
        assert len(simulator.requests) == 2
    assert [Extraction.from_json(each.value or b"").extractor for each in (within, later)] == ["llm:simulated"] * 2


async def test_an_extraction_begun_within_budget_is_completed(settings: Settings, tenants: TenantDirectory) -> None:
    def repaired(request: ChatRequest) -> str:
        return "I would rather not." if len(request.messages) == 2 else extraction_answer(request)

    budget, clock = BudgetSettings(soft_tokens=0, off_peak_start_hour=22), ManualClock(datetime(2024, 5, 1, 12, tzinfo=UTC))
    async with llm_extractor(settings, repaired, budget=budget, clock=clock) as (extractor, simulator):
        assert len(await new_handler(settings, tenants, extractor).handle(window_record())) == 1
    assert len(simulator.requests) == 2


def with_own_budget(**budget: object) -> TenantDirectory:
    """The tenant, with its own budget."""
    return known_tenants({TENANT: SCHEMA}, budget=budget)


async def test_a_budget_applies_only_to_its_tenants_windows(settings: Settings) -> None:
    tenants = with_own_budget(hard_tokens=0, policy="offline")
    budgets = TenantBudgets(tenants=tenants, settings=settings)
    async with llm_extractor(settings, extraction_answer, budget_of=budgets.of) as (extractor, simulator):
        (beyond,) = await new_handler(settings, tenants, extractor).handle(window_record())
    assert simulator.requests == []
    assert Extraction.from_json(beyond.value or b"").extractor == "offline"
    assert budgets.of("nobody") == settings.budget


async def test_a_cost_without_prices_counts_as_spent(settings: Settings) -> None:
    with_llm = settings.model_copy(update={"llm": LLMSettings(base_url="http://localhost/v1", model="m")})
    tenants = known_tenants({TENANT: SCHEMA, "another": SCHEMA})
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, budget={"hard_cost": 1.0}))
    budgets = TenantBudgets(tenants=tenants, settings=with_llm)
    with capture_logs() as logs:
        async with llm_extractor(settings, extraction_answer, budget_of=budgets.of) as (extractor, simulator):
            stage = new_handler(settings, tenants, extractor)
            for _ in range(2):
                with pytest.raises(TransientError, match=f"PRICE_TABLE.*`varve tenants set {TENANT} --budget`") as failure:
                    await stage.handle(window_record())
            assert (failure.value.dependency, failure.value.retry_after_s) == ("budget", 60.0)
            assert simulator.requests == []
            assert len(await stage.handle(window_record("another"))) == 1, "no other window waits for it"

            now_known(tenants, lambda draft: set_tenant(draft, TENANT, budget={"hard_cost": 1.0, "policy": "offline"}))
            (offline,) = await stage.handle(window_record())
            assert Extraction.from_json(offline.value or b"").extractor == "offline"
            now_known(tenants, lambda draft: set_tenant(draft, TENANT, budget={"soft_cost": 1.0}))
            (asked,) = await stage.handle(window_record())
            assert Extraction.from_json(asked.value or b"").extractor == "llm:simulated"
    assert [each["tenant"] for each in logs if each["event"] == "budget_without_prices"] == [TENANT]
    assert TenantBudgets(tenants=tenants, settings=settings).of(TENANT).soft_cost == 1.0, "offline nothing costs anything"
