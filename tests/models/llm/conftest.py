"""LLMs built as the stages build them, with simulated endpoints: real HTTP servers."""

import asyncio
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from memory.records import Usage
from models.llm.build import build_llm
from models.llm.gateway import LLMGateway
from models.llm.port import ChatMessage, LLMRequest
from models.llm.telemetry import LLMMetrics
from runtime.clocks import ManualClock
from runtime.redis.client import GuardedRedis
from runtime.settings import BudgetSettings, DeliverySettings, EndpointSettings, LLMSettings, Settings

BuildLLM = Callable[..., LLMGateway]
Serve = Callable[..., Awaitable[LLMSimulator]]
Until = Callable[[Callable[[], bool], str], Awaitable[None]]
BuildRequest = Callable[..., LLMRequest]


class UsageList:
    """Keeps the recorded usage; fails when a test says so."""

    def __init__(self) -> None:
        self.records: list[Usage] = []
        self.fault: Exception | None = None

    async def record(self, usage: Usage) -> None:
        if self.fault is not None:
            raise self.fault
        self.records.append(usage)


@pytest.fixture
def prefix() -> str:
    return f"test-{uuid.uuid4().hex}:"


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def usages() -> UsageList:
    return UsageList()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2024, 5, 6, 12, tzinfo=UTC))


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
async def llm_of(usages: UsageList, clock: ManualClock, registry: CollectorRegistry) -> AsyncIterator[BuildLLM]:
    """Builds an LLM whose endpoints are the given addresses or simulators; closes it at the end."""
    built: list[LLMGateway] = []
    metrics = LLMMetrics(registry)

    def build(
        *endpoints: LLMSimulator | str,
        redis: Redis | None = None,
        prefix: str = "varve:",
        budget: BudgetSettings | None = None,
        delivery: DeliverySettings | None = None,
        **llm: Any,
    ) -> LLMGateway:
        first, *others = [each if isinstance(each, str) else each.base_url for each in endpoints]
        settings = Settings(
            llm=LLMSettings(
                **{
                    "base_url": first,
                    "model": "simulated",
                    "fallbacks": tuple(EndpointSettings(base_url=each, model="fallback") for each in others),
                    "max_completion_tokens": 200,
                    **llm,
                }
            ),
            budget=budget or BudgetSettings(),
            delivery=delivery or DeliverySettings(),
        )
        guarded = None if redis is None else GuardedRedis(client=redis, prefix=prefix)
        llm_built = build_llm(settings, redis=guarded, usage=usages, clock=clock, metrics=metrics)
        assert isinstance(llm_built, LLMGateway)
        built.append(llm_built)
        return llm_built

    yield build
    async with asyncio.timeout(60):
        for each in built:
            await each.close()


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts simulated endpoints: each sees one plan after another, the last one for good; stops them at the end."""
    started: list[LLMSimulator] = []

    async def start(*plans: Plan, answer: str = "yes") -> LLMSimulator:
        left = list(plans or [Plan()])
        simulator = LLMSimulator(answer=lambda _: answer, planner=lambda *_: left.pop(0) if len(left) > 1 else left[0])
        await simulator.start()
        started.append(simulator)
        return simulator

    yield start
    for each in started:
        await each.stop()


@pytest.fixture
def until() -> Until:
    """Waits for a condition that something outside brings about."""

    async def wait(condition: Callable[[], bool], what: str) -> None:
        try:
            async with asyncio.timeout(60):
                while not condition():  # noqa: ASYNC110
                    await asyncio.sleep(0.005)
        except TimeoutError:
            raise AssertionError(f"not within 60 s: {what}") from None

    return wait


@pytest.fixture
def unused_address() -> str:
    """An address at which nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}/v1"


@pytest.fixture
def ask() -> BuildRequest:
    """Builds a request."""

    def build(text: str = "What is new?", **fields: Any) -> LLMRequest:
        return LLMRequest(
            **{
                "messages": (ChatMessage("system", "You lay down memories."), ChatMessage("user", text)),
                "tenant": "acme",
                "stage": "extraction",
                **fields,
            }
        )

    return build
