"""The extraction stage maps an extractor's errors, and produces extractions under their user's key."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from control.documents import Drops
from control.tenant_changes import set_tenant
from control.tenants import TenantDirectory
from extraction.errors import UnusableAnswerError
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext, Extractor
from memory.keys import decode_key
from memory.records import Dropped, Extraction, NotedEvent, Segment, Window
from memory.schema import MemorySchema
from models.embedding.embedder import BatchedEmbedder
from models.embedding.port import Embedding
from models.errors import (
    BudgetExceededError,
    InputRefusedError,
    ModelConfigurationError,
    ModelError,
    OverloadedError,
    TransientModelError,
)
from models.openai_errors import error_for_status
from retrieval.entity_lookup import EntityLookup
from runtime.clocks import SystemClock
from runtime.metrics import Metrics
from runtime.redis.client import open_redis
from runtime.redis.recall_history import RecallHistory, Returned
from runtime.redis.session_history import SessionHistory
from runtime.settings import RedisSettings, Settings
from stores.build import build_store
from streams.errors import PoisonRecordError, TransientError
from streams.stages.tenancy import weight_of
from tests.control_log import now_known
from tests.extraction.embedders import RefusingEmbedder
from tests.redis_server import SilentRedis
from tests.streams.agent_extractions import SCHEMA, START, TENANT, extraction
from tests.streams.stages.extraction.doubles import ScriptedExtractor, new_handler, window_record


async def test_an_extraction_goes_to_its_users_key(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ScriptedExtractor()
    (output,) = await new_handler(settings, tenants, extractor).handle(window_record())
    assert (output.topic, decode_key(output.key or b"")) == ("varve.extractions", (TENANT, "agent"))
    assert Extraction.from_json(output.value or b"").sequence == 3
    assert extractor.seen[0][1].name == SCHEMA


class Lossy(ScriptedExtractor):
    """An extractor that leaves things out."""

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        dropped = [Dropped(what="property", reason="not_int64", count=2), Dropped(what="event", reason="duplicate")]
        return (await super().extract(window, schema, context)).model_copy(update={"dropped": dropped})


async def test_dropped_parts_are_counted_by_reason(settings: Settings, tenants: TenantDirectory) -> None:
    metrics = Metrics()
    await new_handler(settings, tenants, Lossy(), metrics=metrics).handle(window_record())
    text = metrics.render().decode()
    assert 'varve_records_total{outcome="dropped_property_not_int64",stage="extraction"} 2.0' in text
    assert 'varve_records_total{outcome="dropped_event_duplicate",stage="extraction"} 1.0' in text


@pytest.mark.parametrize(
    ("error", "dependency", "retry_after_s"),
    [
        (TransientModelError("504"), "llm", None),
        (OverloadedError("429", retry_after_s=7.0), "llm", 7.0),
        (ModelConfigurationError("401"), "llm", None),
        (ModelError("something else"), "llm", None),
        (BudgetExceededError("used up", retry_after_s=3600.0), "budget", 3600.0),
    ],
)
async def test_a_transient_failure_waits_for_the_stated_time(
    settings: Settings, tenants: TenantDirectory, error: Exception, dependency: str, retry_after_s: float | None
) -> None:
    with pytest.raises(TransientError) as failure:
        await new_handler(settings, tenants, ScriptedExtractor(error)).handle(window_record())
    assert (failure.value.dependency, failure.value.retry_after_s) == (dependency, retry_after_s)


async def test_no_window_is_given_up_for_a_refused_key(settings: Settings, tenants: TenantDirectory) -> None:
    error = error_for_status(401, "the endpoint answered 401: invalid key")
    with pytest.raises(TransientError) as failure:
        await new_handler(settings, tenants, ScriptedExtractor(error)).handle(window_record())
    assert failure.value.counts_as_attempt
    assert not failure.value.concerns_record


@pytest.mark.parametrize(
    ("error", "retry_after_s"), [(OverloadedError("429", retry_after_s=7.0), 7.0), (ModelConfigurationError("401"), None)]
)
async def test_a_window_waits_for_an_embedding_model_that_refuses(
    settings: Settings, tenants: TenantDirectory, error: Exception, retry_after_s: float | None
) -> None:
    lookup = EntityLookup(
        store=build_store(settings), embedder=RefusingEmbedder(error), prefetch=settings.recall.prefetch, clock=SystemClock()
    )
    extractor = ScriptedExtractor()
    stage = new_handler(settings, tenants, extractor, lookup=lookup)
    with pytest.raises(TransientError) as failure:
        await stage.handle(window_record())
    assert (failure.value.dependency, failure.value.retry_after_s) == ("embedding", retry_after_s)
    assert extractor.seen == []


async def test_a_window_refused_by_embedding_is_extracted_without_entities(settings: Settings, tenants: TenantDirectory) -> None:
    embedder = RefusingEmbedder(InputRefusedError("400"))
    lookup = EntityLookup(store=build_store(settings), embedder=embedder, prefetch=settings.recall.prefetch, clock=SystemClock())
    extractor = ScriptedExtractor()
    assert len(await new_handler(settings, tenants, extractor, lookup=lookup).handle(window_record())) == 1
    assert extractor.contexts[0].entities == ()


class FailingBackend:
    """An embedding backend that raises what it is given."""

    name = "failing"
    dimension = 2
    late_dimension = None
    distinguishes_queries = False

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        raise self.error

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        raise self.error

    async def close(self) -> None:
        """Nothing is open."""


@asynccontextmanager
async def offline_over(error: Exception) -> AsyncIterator[Extractor]:
    embedder = BatchedEmbedder(backend=FailingBackend(error), batch_size=4, cache_entries=0)
    yield OfflineExtractor(embedder=embedder)
    await embedder.close()


@pytest.mark.parametrize("error", [TransientModelError("503"), ModelConfigurationError("401"), ModelError("something else")])
async def test_an_extractors_embedding_failure_names_the_embedding_dependency(
    settings: Settings, tenants: TenantDirectory, error: Exception
) -> None:
    async with offline_over(error) as extractor:
        with pytest.raises(TransientError) as failure:
            await new_handler(settings, tenants, extractor).handle(window_record(text="I moved to Oslo with my dog last week."))
    assert failure.value.dependency == "embedding"


async def test_an_extractor_whose_embeddings_are_refused_is_poison(settings: Settings, tenants: TenantDirectory) -> None:
    async with offline_over(InputRefusedError("400")) as extractor:
        with pytest.raises(PoisonRecordError) as poison:
            await new_handler(settings, tenants, extractor).handle(window_record(text="I moved to Oslo with my dog last week."))
    assert poison.value.reason == "input_refused"


async def test_a_bad_answer_is_poison_and_keeps_its_text(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ScriptedExtractor(UnusableAnswerError("no JSON", raw="Sure! Here is"))
    with pytest.raises(PoisonRecordError) as poison:
        await new_handler(settings, tenants, extractor).handle(window_record())
    assert (poison.value.reason, poison.value.raw_answer) == ("bad_answer", "Sure! Here is")


async def test_an_unknown_tenants_window_costs_no_call(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ScriptedExtractor()
    with pytest.raises(PoisonRecordError) as poison:
        await new_handler(settings, tenants, extractor).handle(window_record("nobody"))
    assert poison.value.reason == "unknown_tenant"
    assert extractor.seen == []


async def test_windows_of_other_workers_are_skipped(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ScriptedExtractor()
    stage = new_handler(settings, tenants, extractor, generation="", only=frozenset({TENANT}))
    assert len(await stage.handle(window_record())) == 1
    # Nor is a removed tenant's window dead-lettered: `windows` is kept forever, and a generation begins with the first one.
    assert await stage.handle(window_record("nobody")) == []
    assert len(extractor.seen) == 1


async def test_an_extraction_has_the_drops_of_its_generation(settings: Settings, tenants: TenantDirectory) -> None:
    stage = new_handler(settings, tenants, ScriptedExtractor())
    before = await stage.handle(window_record())
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, drops=(Drops(generation="", count=2),)))
    after = await stage.handle(window_record())
    assert [Extraction.from_json(each.value or b"").drops for each in (*before, *after)] == [0, 2]


def test_a_tenants_weight_comes_from_the_control_log(tenants: TenantDirectory) -> None:
    assert weight_of(tenants, TENANT) == 1.0
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, weight=2.5))
    assert weight_of(tenants, TENANT) == 2.5
    assert weight_of(tenants, "nobody") == 1.0
    assert weight_of(tenants, "") == 1.0


async def test_windows_wait_for_a_hanging_redis_once(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ScriptedExtractor()
    async with SilentRedis() as silent, open_redis(RedisSettings(url=silent.url, timeout_s=0.1)) as redis:
        history, recalls = SessionHistory(redis=redis, ttl_s=60), RecallHistory(redis=redis)
        stage = new_handler(settings, tenants, extractor, session_history=history, recall_history=recalls)
        for _ in range(3):
            assert await stage.handle(window_record())
        assert silent.connections == 1, "every further command would have timed out separately"
    assert len(extractor.contexts) == 3


@pytest.mark.integration
async def test_a_window_gets_notes_and_leaves_its_own(
    settings: Settings, tenants: TenantDirectory, redis_url: str, topic_prefix: str
) -> None:
    extractor = ScriptedExtractor()
    async with open_redis(RedisSettings(url=redis_url, prefix=topic_prefix, timeout_s=60.0)) as redis:
        history = SessionHistory(redis=redis, ttl_s=60)
        for number, topics in ((1, ("a slow build", "grep")), (2, ("grep",))):
            segments = [Segment(id=topic, topic=topic, ranges=[(0, 0)]) for topic in topics]
            await history.add(extraction(number, [("grep", number)]).model_copy(update={"segments": segments}))
        stage = new_handler(settings, tenants, extractor, session_history=history)
        window = window_record()
        await stage.handle(window)
        (context,) = extractor.contexts
        assert context.session_summary == "a slow build; grep"
        assert [(each.content, each.properties["failure"]) for each in context.session_events] == [("used grep", 1), ("used grep", 2)]
        behind = Window.from_json(window.value or b"").model_copy(update={"sequence": 4})
        (*_, newest) = (await history.before(behind, "")).events
        assert newest == NotedEvent("tool_use", "used grep", {"tool_name": "grep", "failure": 0}, START + timedelta(minutes=3))


@pytest.mark.integration
async def test_a_recall_after_a_window_closed_is_no_echo(
    settings: Settings, tenants: TenantDirectory, redis_url: str, topic_prefix: str
) -> None:
    extractor = ScriptedExtractor()
    async with open_redis(RedisSettings(url=redis_url, prefix=topic_prefix, timeout_s=60.0)) as redis:
        history = RecallHistory(redis=redis)
        stage = new_handler(settings, tenants, extractor, recall_history=history)
        await history.add([Returned(TENANT, "agent", ["a"])])
        now = datetime.now(UTC).timestamp()
        for closed_at in (now - 60, now + 60):
            await stage.handle(replace(window_record(), timestamp=closed_at))
        assert [context.recalled_hashes for context in extractor.contexts] == [frozenset(), {"a"}]
