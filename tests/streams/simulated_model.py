"""A simulated model before stages in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client import CollectorRegistry

from loadtest.llm_simulator import LLMSimulator
from models.llm.build import build_llm
from models.llm.port import LLM
from models.llm.telemetry import LLMMetrics
from models.llm.usage import DiscardedUsage, UsageSink
from runtime.settings import LLMSettings, Settings

WRITTEN = '{"text": "Written by the model."}'


@asynccontextmanager
async def simulated_model(
    simulator: LLMSimulator, settings: Settings, usage: UsageSink | None = None
) -> AsyncIterator[tuple[Settings, LLM]]:
    """The settings with the endpoint of a simulator, which is started, and the model there."""
    async with simulator:
        asking = settings.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
        llm = build_llm(asking, redis=None, usage=DiscardedUsage() if usage is None else usage, metrics=LLMMetrics(CollectorRegistry()))
        assert llm is not None
        try:
            yield asking, llm
        finally:
            await llm.close()
