"""The merging stage: one request, one outcome, by a model on a real HTTP server or by rule; a used-up budget is waited for."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

import orjson
import pytest

from loadtest.answers import extraction_answer
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from loadtest.requests import ChatRequest
from memory.keys import encode_key
from memory.records import Contribution, MemoryChange, MergeRequest
from models.llm.port import LLM
from runtime.clocks import SystemClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import BudgetSettings, LLMSettings, Settings
from streams.engine.records import ConsumedRecord
from streams.errors import PoisonRecordError, TransientError
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from streams.stages.merging.handler import MergingHandler
from tests.control_log import known_tenants
from tests.growth import RESPONSIVE, turns_during
from tests.immediate_llm import ImmediateLLM
from tests.streams.harness import PartitionHarness, delivered
from tests.streams.merged_remarks import SCHEMA, TENANT, extraction
from tests.streams.simulated_model import simulated_model
from tests.usage_list import UsageList

TWO = {0: "likes tea", 1: "likes fog"}
"""Remarks that a model is asked to merge."""


class Stages:
    """Events, entities and merging, with one partition each, and their topics."""

    def __init__(self, settings: Settings, llm: LLM | None) -> None:
        tenants, self.metrics = known_tenants({TENANT: SCHEMA}), Metrics()
        self._events = PartitionHarness(EventsHandler(partition=0, settings=settings, tenants=tenants, metrics=self.metrics), LedgerCodec())
        self.entities = PartitionHarness(
            EntitiesHandler(partition=0, settings=settings, tenants=tenants, metrics=self.metrics, clock=SystemClock()), EntityCodec()
        )
        self.merging = MergingHandler(settings=settings, tenants=tenants, metrics=self.metrics, llm=llm)
        self.log: dict[str, list[ConsumedRecord]] = {name: [] for name in ("extractions", "contributions", "merges", "merged", "memories")}

    def produce(self, outputs: list[OutgoingRecord]) -> list[ConsumedRecord]:
        """Appends records to their topics."""
        new = []
        for output in outputs:
            name = output.topic.removeprefix("varve.")
            new.append(delivered(name, len(self.log[name]), output.key, output.value))
            self.log[name].append(new[-1])
        return new

    async def extract(self, window: int, remarks: dict[int, str]) -> None:
        """Brings a window's remarks as far as the entity."""
        given = extraction("ann", window, remarks)
        record = delivered("extractions", len(self.log["extractions"]), encode_key(TENANT, "ann"), given.to_json())
        self.log["extractions"].append(record)
        produced = self.produce((await self._events.process([record])).outputs)
        await self.contribute([each for each in produced if each.topic == "varve.contributions"])

    async def contribute(self, records: list[ConsumedRecord]) -> None:
        self.produce((await self.entities.process(records)).outputs)

    async def merge(self, number: int) -> None:
        """Answers a request, and brings the answer to the entity."""
        await self.contribute(self.produce(await self.merging.handle(self.log["merges"][number])))

    @property
    def profile(self) -> MemoryChange:
        changes = [MemoryChange.from_json(each.value or b"") for each in self.log["memories"] if each.value]
        return next(each for each in reversed(changes) if each.memory is not None and each.memory.kind == "entity")

    @property
    def story(self) -> str:
        assert self.profile.memory is not None
        return str(self.profile.memory.properties["story"])


@asynccontextmanager
async def running(
    settings: Settings,
    *,
    plan: Callable[[int], Plan] | None = None,
    refuses: Callable[[str], bool] = lambda prompt: False,
    answer: str | None = None,
    budget: BudgetSettings | None = None,
) -> AsyncIterator[tuple[Stages, LLMSimulator, UsageList]]:
    """The stages before a simulated endpoint.

    Args:
        settings: The stages' settings.
        plan: How the n-th call of a prompt fares.
        refuses: Whether the endpoint refuses what the user's part of a prompt says.
        answer: What the model says; the merge asked for unless given.
        budget: Of every tenant.
    """
    usage = UsageList()

    def planned(request: ChatRequest, earlier: int) -> Plan:
        if refuses(request.messages[-1][1]):
            return Plan(status=400)
        return Plan() if plan is None else plan(earlier)

    simulator = LLMSimulator(answer=extraction_answer if answer is None else lambda _: answer, planner=planned)
    budgeted = settings.model_copy(update={"budget": budget or BudgetSettings()})
    async with simulated_model(simulator, budgeted, usage) as (with_llm, llm):
        yield Stages(with_llm, llm), simulator, usage


async def test_an_answer_is_written_to_the_log(settings: Settings) -> None:
    async with running(settings) as (stages, simulator, usage):
        await stages.extract(0, {0: "likes tea"})
        assert stages.log["merges"] == [], "a first statement needs no model"
        await stages.extract(1, {0: "lives in Oslo"})
        await stages.extract(2, {0: "has a cat"})
        assert stages.story == "2024-05-01: likes tea\n2024-05-02: lives in Oslo\n2024-05-03: has a cat"
        assert len(stages.log["merges"]) == 1, "the third waits for the second"
        await stages.merge(0)
        await stages.merge(1)
        assert stages.story == "likes tea\nlives in Oslo\nhas a cat"
        assert len(simulator.requests) == len(stages.log["merges"]) == 2
        assert len({each.key for each in stages.log["merged"]}) == 1, "the newest outcome takes the place of the one before"
        asked = orjson.loads(simulator.requests[0].messages[-1][1])
        assert asked["field"] == "profile, story: What the user has told."
        assert stages.log["contributions"][-1].key == stages.log["merges"][0].key
        assert {(each.stage, each.purpose, each.tenant) for each in usage} == {("merging", "merge", TENANT)}
        assert stages.profile.memory is not None
        assert {each.subject for each in usage} == {stages.profile.memory.id}
        # A redelivery of either changes nothing, and is asked of the cache.
        rows = dict(stages.entities.rows.rows)
        await stages.merge(0)
        await stages.merge(1)
        assert stages.entities.rows.rows == rows
        assert len(simulator.requests) == 2


async def test_an_unusable_answer_ends_by_rule(settings: Settings) -> None:
    async with running(settings, answer="I would rather not.") as (stages, simulator, _):
        await stages.extract(0, TWO)
        await stages.merge(0)
        assert len(simulator.requests) == settings.merging.attempts
        assert stages.story == "2024-05-01: likes tea\n2024-05-01: likes fog"
        assert stages.profile.memory is not None
        assert (stages.profile.memory.written or {})["story"].by == "rule"
        assert b'varve_records_total{outcome="by_rule_bad_answer",stage="merging"} 1.0' in stages.metrics.render()


async def test_a_long_answer_is_read_off_the_loop(settings: Settings) -> None:
    answer = "".join(f'{{"text{number}":' for number in range(40_000))
    with_llm = settings.model_copy(update={"llm": LLMSettings(base_url="http://localhost:9/v1", model="immediate")})
    stages = Stages(with_llm, cast(LLM, ImmediateLLM(answer)))
    await stages.extract(0, TWO)
    _, turns = await turns_during(stages.merge(0))

    assert b'varve_records_total{outcome="by_rule_bad_answer",stage="merging"} 1.0' in stages.metrics.render()
    assert turns > RESPONSIVE


async def test_a_refused_prompt_is_merged_by_rule(settings: Settings) -> None:
    async with running(settings, refuses=lambda prompt: "likes tea" in prompt) as (stages, simulator, _):
        await stages.extract(0, TWO)
        await stages.merge(0)
        assert stages.story == "2024-05-01: likes tea\n2024-05-01: likes fog"
        assert len(stages.log["merged"]) == 1
        assert simulator.requests[-1].messages[-1] == ("user", "ping")


async def test_an_endpoint_that_refuses_all_is_waited_for(settings: Settings) -> None:
    async with running(settings, refuses=lambda prompt: True) as (stages, _, _):
        await stages.extract(0, TWO)
        with pytest.raises(TransientError) as raised:
            await stages.merge(0)
        assert (raised.value.dependency, raised.value.concerns_record) == ("llm", True)
        assert stages.log["merged"] == []


async def test_an_overloaded_endpoint_uses_up_no_attempt(settings: Settings) -> None:
    async with running(settings, plan=lambda _: Plan(status=429, retry_after_s=7)) as (stages, _, _):
        await stages.extract(0, TWO)
        with pytest.raises(TransientError) as raised:
            await stages.merge(0)
        assert (raised.value.retry_after_s, raised.value.concerns_record) == (7, False)


async def test_an_endpoint_away_is_waited_for(settings: Settings) -> None:
    async with running(settings, plan=lambda earlier: Plan(status=200 if earlier else 503)) as (stages, _, _):
        await stages.extract(0, TWO)
        with pytest.raises(TransientError) as raised:
            await stages.merge(0)
        assert raised.value.dependency == "llm"
        await stages.merge(0)
        assert stages.story == "likes tea\nlikes fog"


async def test_a_used_up_budget_is_waited_for(settings: Settings) -> None:
    async with running(settings, budget=BudgetSettings(hard_tokens=1)) as (stages, simulator, _):
        await stages.extract(0, TWO)
        with pytest.raises(TransientError) as raised:
            await stages.merge(0)
        assert (raised.value.dependency, raised.value.counts_as_attempt) == ("budget", False)
        assert simulator.requests == []


async def test_a_retraction_is_merged_without_its_event(settings: Settings) -> None:
    async with running(settings) as (stages, _, _):
        await stages.extract(0, TWO)
        await stages.merge(0)
        await stages.extract(1, {0: "lives in Oslo", 1: "lives in Rome"})
        await stages.merge(1)
        await stages.extract(1, {0: "lives in Oslo"})
        assert stages.profile.memory is not None
        assert (stages.profile.memory.written or {})["story"].stale
        request = MergeRequest.from_json(stages.log["merges"][2].value or b"")
        assert "Rome" not in str(request.question["added"])
        await stages.merge(2)
        assert stages.story == "likes tea\nlikes fog\nlives in Oslo"


async def test_without_an_endpoint_nothing_is_asked(settings: Settings) -> None:
    stages = Stages(settings, None)
    await stages.extract(0, TWO)
    assert stages.log["merges"] == []
    assert stages.profile.memory is not None
    assert (stages.profile.memory.written or {})["story"].by == "rule"


async def test_statements_sent_before_a_rebuild_are_merged_by_rule(settings: Settings) -> None:
    async with running(settings) as (stages, simulator, _):
        await stages.extract(0, TWO)
        stages.merging = Stages(settings, None).merging
        await stages.merge(0)
        assert stages.story == "2024-05-01: likes tea\n2024-05-01: likes fog"
        assert simulator.requests == []


async def test_a_request_of_an_unknown_property_is_refused(settings: Settings) -> None:
    async with running(settings) as (stages, _, _):
        await stages.extract(0, TWO)
        request = stages.log["merges"][0]
        for old, new in ((b'"story","part"', b'"remarks","part"'), (b'"profile"', b'"gone"')):
            broken = delivered("merges", 9, request.key, (request.value or b"").replace(old, new))
            with pytest.raises(PoisonRecordError, match="has no merged property"):
                await stages.merging.handle(broken)
        # An answer for a removed entity breaks no order: it leaves no hole.
        answer = (await stages.merging.handle(request))[0]
        gone = Contribution.from_json(answer.value or b"").model_copy(update={"entity_type": "gone"})
        rows = dict(stages.entities.rows.rows)
        batch = await stages.entities.process([delivered("contributions", 99, answer.key, gone.to_json())])
        assert [each.reason for each in batch.rejections] == ["unknown_entity_type"]
        assert stages.entities.rows.rows == rows
