"""The extraction stage sorts what an extractor raises, and gives what it returns to the right key."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from loadtest.llm_simulator import LLMSimulator
from memory.headers import ORIGIN
from memory.keys import decode_key, encode_key
from memory.records import Extraction, Message, Segment, Usage, Window
from memory.schema.model import MemorySchema
from models.embedding.port import Embedding
from models.errors import BudgetExceededError, ModelAnswerError, ModelConfigurationError, OverloadedError, TransientModelError
from models.extraction.build import build_extractor
from models.extraction.port import ExtractionContext, Extractor
from models.llm.build import build_llm
from models.llm.metrics import LLMMetrics
from retrieval.recall import Recall
from retrieval.stores.build import build_store
from runtime.clocks import SystemClock
from runtime.recalled import RecalledHashes
from runtime.redis import connect_redis
from runtime.session_notes import NotedEvent, SessionNotes
from runtime.settings import LLMSettings, RedisSettings, Settings
from runtime.tenants import TenantDirectory
from streams.delivery.records import Delivered
from streams.errors import PoisonRecord, TransientFailure
from streams.extraction.handler import ExtractionHandler
from streams.tenancy import weight_of
from tests.streams.laid_down import SCHEMA, START, TENANT, extraction
from tests.streams.steps import delivered, plain_settings, tenants_of


class ScriptedExtractor:
    """Raises what it is given, or answers."""

    name = "scripted"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.seen: list[tuple[Window, MemorySchema]] = []
        self.contexts: list[ExtractionContext] = []

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        self.seen.append((window, schema))
        self.contexts.append(context)
        if self.error is not None:
            raise self.error
        return extraction(window.sequence, [("grep", 0)])

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return plain_settings(tmp_path)


@pytest.fixture
def tenants(settings: Settings) -> TenantDirectory:
    return tenants_of(settings, {TENANT: SCHEMA})


class NoUsage:
    """Keeps no accounts."""

    async def record(self, usage: Usage) -> None:
        """Forgets it."""


def handler(settings: Settings, tenants: TenantDirectory, extractor: Extractor, **parts: Any) -> ExtractionHandler:
    none = dict.fromkeys(("nearest", "recalled", "shown", "notes"))
    return ExtractionHandler(settings=settings, tenants=tenants, extractor=extractor, **{**none, **parts})


def a_window(tenant: str = TENANT) -> Delivered:
    message = Message(tenant=tenant, user="agent", session="s1", id="m0-0", text="hi", event_time=datetime(2024, 5, 1, tzinfo=UTC))
    window = Window(
        id="w",
        tenant=tenant,
        user="agent",
        session="s1",
        sequence=3,
        messages=[message],
        closed_by="flush",
        source_partition=0,
        first_offset=0,
        last_offset=0,
    )
    return delivered("windows", 0, encode_key(tenant, "s1"), window.to_json())


async def test_an_extraction_goes_to_its_users_key(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ScriptedExtractor()
    (output,) = await handler(settings, tenants, extractor).handle(a_window())
    assert (output.topic, decode_key(output.key or b"")) == ("varve.extractions", (TENANT, "agent"))
    assert Extraction.from_json(output.value or b"").sequence == 3
    assert extractor.seen[0][1].name == SCHEMA


@pytest.mark.parametrize(
    ("error", "dependency", "retry_after"),
    [
        (TransientModelError("504"), "llm", None),
        (OverloadedError("429", retry_after=7.0), "llm", 7.0),
        (ModelConfigurationError("401"), "llm", None),
        (BudgetExceededError("used up", retry_after=3600.0), "budget", 3600.0),
    ],
)
async def test_what_may_pass_is_tried_again_when_the_dependency_says(
    settings: Settings, tenants: TenantDirectory, error: Exception, dependency: str, retry_after: float | None
) -> None:
    with pytest.raises(TransientFailure) as failure:
        await handler(settings, tenants, ScriptedExtractor(error)).handle(a_window())
    assert (failure.value.dependency, failure.value.retry_after) == (dependency, retry_after)


class RefusingEmbedder:
    """Raises what it is given."""

    name = "refusing"
    dimension = 2

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        raise self.error

    async def embed_query(self, text: str) -> Embedding:
        raise self.error

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(("error", "retry_after"), [(OverloadedError("429", retry_after=7.0), 7.0), (ModelConfigurationError("401"), None)])
async def test_a_window_waits_for_an_embedding_model_that_refuses(
    settings: Settings, tenants: TenantDirectory, error: Exception, retry_after: float | None
) -> None:
    nearest = Recall(store=build_store(settings), embedder=RefusingEmbedder(error), settings=settings.recall, clock=SystemClock())
    extractor = ScriptedExtractor()
    stage = handler(settings, tenants, extractor, nearest=nearest)
    with pytest.raises(TransientFailure) as failure:
        await stage.handle(a_window())
    assert (failure.value.dependency, failure.value.retry_after) == ("embedding", retry_after)
    assert extractor.seen == []


async def test_an_answer_beyond_repair_is_poison_and_keeps_its_text(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ScriptedExtractor(ModelAnswerError("no JSON", raw="Sure! Here is"))
    with pytest.raises(PoisonRecord) as poison:
        await handler(settings, tenants, extractor).handle(a_window())
    assert (poison.value.reason, poison.value.raw_answer) == ("bad_answer", "Sure! Here is")


class AnsweringAtLast(ScriptedExtractor):
    """Gives answers beyond repair, each with a text of its own, and then an extraction."""

    def __init__(self, bad_answers: int) -> None:
        super().__init__()
        self.bad_answers = bad_answers

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        given = await super().extract(window, schema, context)
        if len(self.contexts) <= self.bad_answers:
            raise ModelAnswerError("no JSON", raw=f"answer {context.attempt}")
        return given

    @property
    def attempts(self) -> list[int]:
        return [context.attempt for context in self.contexts]


async def test_a_second_attempt_saves_a_window_whose_first_answer_is_beyond_repair(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = AnsweringAtLast(bad_answers=1)
    (output,) = await handler(settings, tenants, extractor).handle(a_window())
    assert Extraction.from_json(output.value or b"").sequence == 3
    assert extractor.attempts == [0, 1]


async def test_attempts_end_in_the_dead_letters_with_the_last_answer_and_are_the_same_when_the_window_comes_again(
    tmp_path: Path, tenants: TenantDirectory
) -> None:
    settings = plain_settings(tmp_path, extraction={"attempts": 2})
    for _ in range(2):
        extractor = AnsweringAtLast(bad_answers=9)
        with pytest.raises(PoisonRecord) as poison:
            await handler(settings, tenants, extractor).handle(a_window())
        assert (poison.value.reason, poison.value.raw_answer) == ("bad_answer", "answer 1")
        assert extractor.attempts == [0, 1]


async def test_a_window_driven_again_is_asked_past_all_the_answers_that_it_failed_on(settings: Settings, tenants: TenantDirectory) -> None:
    asked: list[int] = []
    for offset in range(3):
        extractor = AnsweringAtLast(bad_answers=9)
        headers = ((ORIGIN, b"varve.windows/0/0"),) if offset else ()
        with pytest.raises(PoisonRecord):
            await handler(settings, tenants, extractor).handle(replace(a_window(), offset=offset, headers=headers))
        asked += extractor.attempts
    assert len(set(asked)) == len(asked) == 3 * settings.extraction.attempts


async def test_a_window_that_comes_again_pays_for_no_attempt_twice(settings: Settings, tenants: TenantDirectory) -> None:
    async with LLMSimulator(answer=lambda _: "I would rather not.") as simulator:
        asking = settings.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
        llm = build_llm(asking, redis=None, usage=NoUsage(), metrics=LLMMetrics(CollectorRegistry()))
        extractor = build_extractor(asking, embedder=RefusingEmbedder(AssertionError()), llm=llm)
        stage = handler(settings, tenants, extractor)
        for _ in range(2):
            with pytest.raises(PoisonRecord) as poison:
                await stage.handle(a_window())
            assert "I would rather not." in (poison.value.raw_answer or "")
        await extractor.close()
    assert len(simulator.asked) == 2 * settings.extraction.attempts, "an answer and its repair, each attempt"


async def test_an_unknown_tenants_window_costs_no_call(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ScriptedExtractor()
    with pytest.raises(PoisonRecord) as poison:
        await handler(settings, tenants, extractor).handle(a_window("nobody"))
    assert poison.value.reason == "unknown_tenant"
    assert extractor.seen == []


def test_whose_record_it_is_stands_in_its_key_and_is_never_an_error(settings: Settings, tenants: TenantDirectory) -> None:
    stage = handler(settings, tenants, ScriptedExtractor())
    assert stage.tenant_of(a_window("globex")) == "globex"
    for key in (None, b"", b"\xff", b"a//b"):
        assert stage.tenant_of(delivered("windows", 0, key, None)) == ""


def test_a_tenants_weight_is_the_one_in_the_tenants_file(settings: Settings, tenants: TenantDirectory) -> None:
    assert weight_of(tenants, TENANT) == 1.0
    path = settings.tenants_path
    path.write_bytes(path.read_bytes().replace(b'"weight": 1.0', b'"weight": 2.5'))
    assert weight_of(TenantDirectory(path=path), TENANT) == 2.5
    assert weight_of(tenants, "nobody") == 1.0
    assert weight_of(tenants, "") == 1.0


@pytest.mark.integration
async def test_a_window_is_told_what_those_before_it_gave_and_tells_the_next(
    settings: Settings, tenants: TenantDirectory, redis_url: str, topic_prefix: str
) -> None:
    extractor = ScriptedExtractor()
    async with connect_redis(RedisSettings(url=redis_url)) as client:
        notes = SessionNotes(client=client, prefix=topic_prefix, ttl_s=60)
        for number, topics in ((1, ("a slow build", "grep")), (2, ("grep",))):
            segments = [Segment(id=topic, topic=topic, ranges=[(0, 0)]) for topic in topics]
            await notes.note(extraction(number, [("grep", number)]).model_copy(update={"segments": segments}))
        stage = handler(settings, tenants, extractor, notes=notes)
        window = a_window()
        await stage.handle(window)
        (context,) = extractor.contexts
        assert context.session_summary == "a slow build; grep"
        assert [(each.content, each.properties["failure"]) for each in context.session_events] == [("used grep", 1), ("used grep", 2)]
        behind = Window.from_json(window.value or b"").model_copy(update={"sequence": 4})
        (*_, newest) = (await notes.before(behind, "")).events
        assert newest == NotedEvent("tool_use", "used grep", {"tool_name": "grep", "failure": 0}, START + timedelta(minutes=3))


@pytest.mark.integration
async def test_what_is_recalled_after_a_window_closed_is_no_echo_in_it_however_late_it_is_extracted(
    settings: Settings, tenants: TenantDirectory, redis_url: str, topic_prefix: str
) -> None:
    extractor = ScriptedExtractor()
    async with connect_redis(RedisSettings(url=redis_url)) as client:
        recalled = RecalledHashes(client=client, prefix=topic_prefix)
        stage = handler(settings, tenants, extractor, recalled=recalled)
        await recalled.add(TENANT, "agent", ["a"])
        now = datetime.now(UTC).timestamp()
        for closed_at in (now - 60, now + 60):
            await stage.handle(replace(a_window(), timestamp=closed_at))
        assert [context.recalled_hashes for context in extractor.contexts] == [frozenset(), {"a"}]
