"""Windows, extractors and handlers for tests of the extraction stage."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry

from control.tenants import TenantDirectory
from extraction.build import build_extractor
from extraction.port import EntityName, ExtractionContext, Extractor
from loadtest.answers import AnswerFunction
from loadtest.llm_simulator import LLMSimulator
from memory.keys import encode_key
from memory.records import Extraction, Message, Window
from memory.schema.model import MemorySchema
from models.embedding.handover import VectorHandover
from models.llm.build import build_llm
from models.llm.telemetry import LLMMetrics
from models.llm.usage import DiscardedUsage
from retrieval.entity_lookup import EntityLookup
from runtime.clocks import Clock
from runtime.metrics import Metrics
from runtime.redis.recall_history import RecallHistory
from runtime.redis.session_history import SessionHistory
from runtime.settings import BudgetSettings, LLMSettings, Settings
from streams.engine.records import ConsumedRecord
from streams.stages.extraction.entity_context import EntityContext, EntityNotes
from streams.stages.extraction.handler import ExtractionHandler
from streams.stages.extraction.similar_keys import SimilarKeys
from streams.stages.extraction.window_notes import WindowNotes
from tests.made_records import made_window
from tests.stores.factories import BagOfWordsEmbedder
from tests.streams.agent_extractions import TENANT, extraction
from tests.streams.harness import delivered


class ScriptedExtractor:
    """Raises what it is given, or answers."""

    name = "scripted"

    def __init__(self, error: Exception | None = None, *, edited: list[EntityName] | None = None) -> None:
        self.error = error
        self.edited = edited
        self.seen: list[tuple[Window, MemorySchema]] = []
        self.contexts: list[ExtractionContext] = []

    def edited_entities(self, window: Window, schema: MemorySchema) -> list[EntityName] | None:
        """As given."""
        return self.edited

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        self.seen.append((window, schema))
        self.contexts.append(context)
        if self.error is not None:
            raise self.error
        return extraction(window.sequence, [("grep", 0)])

    async def close(self) -> None:
        """Nothing is open."""


def new_handler(
    settings: Settings,
    tenants: TenantDirectory,
    extractor: Extractor,
    *,
    metrics: Metrics | None = None,
    lookup: EntityLookup | None = None,
    recall_history: RecallHistory | None = None,
    session_history: SessionHistory | None = None,
    entity_notes: EntityNotes | None = None,
    similar_keys: SimilarKeys | None = None,
    handover: VectorHandover | None = None,
    generation: str | None = None,
    only: frozenset[str] | None = None,
) -> ExtractionHandler:
    """The stage's handler, without what a test does not need."""
    return ExtractionHandler(
        settings=settings,
        tenants=tenants,
        metrics=metrics or Metrics(),
        extractor=extractor,
        entity_context=None if lookup is None else EntityContext(lookup=lookup, notes=entity_notes),
        notes=WindowNotes(sessions=session_history, recalls=recall_history, entities=entity_notes),
        similar_keys=similar_keys,
        handover=handover,
        generation=generation,
        only=only,
    )


@asynccontextmanager
async def llm_extractor(
    settings: Settings,
    answer: AnswerFunction,
    *,
    budget: BudgetSettings | None = None,
    budget_of: Callable[[str], BudgetSettings] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[tuple[Extractor, LLMSimulator]]:
    """The extractor as the stage builds it, with a simulated endpoint: a real HTTP server."""
    async with LLMSimulator(answer=answer) as simulator:
        llm_settings = LLMSettings(base_url=simulator.base_url, model="simulated")
        with_llm = settings.model_copy(update={"llm": llm_settings, "budget": budget or BudgetSettings()})
        metrics = LLMMetrics(CollectorRegistry())
        llm = build_llm(with_llm, redis=None, usage=DiscardedUsage(), budget_of=budget_of, metrics=metrics, clock=clock)
        extractor = build_extractor(with_llm, embedder=BagOfWordsEmbedder(), llm=llm)
        try:
            yield extractor, simulator
        finally:
            await extractor.close()


def window_record(tenant: str = TENANT, text: str = "hi") -> ConsumedRecord:
    message = Message(tenant=tenant, user="agent", session="s1", id="m0-0", text=text, event_time=datetime(2024, 5, 1, tzinfo=UTC))
    window = made_window([message], sequence=3)
    return delivered("windows", 0, encode_key(tenant, "s1"), window.to_json())
