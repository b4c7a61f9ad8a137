"""The extraction stage stores nothing from an erased user's windows, whether it extracts them before or while it learns of the erasure."""

from collections.abc import Iterable

import pytest

from control.tenants import TenantDirectory
from extraction.port import ExtractionContext
from memory.headers import ORIGIN
from memory.keys import encode_key, marked_key, unmarked_key
from memory.records import Extraction, Window
from memory.schema import MemorySchema
from models.embedding.handover import Owner, VectorHandover
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.errors import TransientError
from tests.erased_users import now_erased, unreadably_erased
from tests.streams.agent_extractions import TENANT
from tests.streams.harness import delivered
from tests.streams.stages.extraction.doubles import ScriptedExtractor, new_handler, window_record

AGENT = "agent"
KEY = marked_key(encode_key(TENANT, AGENT), "w")


def window_at(offset: int, *, origin: str | None = None) -> ConsumedRecord:
    headers = () if origin is None else ((ORIGIN, origin.encode()),)
    return delivered("windows", offset, KEY, window_record().value, headers=headers)


async def test_an_erased_window_is_not_extracted(settings: Settings, tenants: TenantDirectory) -> None:
    now_erased(tenants, TENANT, AGENT, {"windows": {0: 5}})
    extractor, metrics = ScriptedExtractor(), Metrics()
    handler = new_handler(settings, tenants, extractor, metrics=metrics)
    assert await handler.handle(window_at(4)) == []
    assert await handler.handle(window_at(9, origin="varve.windows/0/4")) == [], "a dead letter that is driven again"
    assert extractor.seen == []
    # Counted before any text of it is redacted or looked up. After that, a later check keeps it from the extractor.
    assert metrics.registry.get_sample_value("varve_records_total", {"stage": "extraction", "outcome": "erased"}) == 2
    assert len(await handler.handle(window_at(5))) == 1, "what the user has come back with"


async def test_another_users_window_is_extracted(settings: Settings, tenants: TenantDirectory) -> None:
    now_erased(tenants, TENANT, "somebody", {"windows": {0: 5}})
    assert len(await new_handler(settings, tenants, ScriptedExtractor()).handle(window_at(4))) == 1


class ErasedMeanwhile(ScriptedExtractor):
    """An extractor that takes its time: meanwhile the window's user is erased."""

    def __init__(self, tenants: TenantDirectory) -> None:
        super().__init__()
        self._tenants = tenants

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        now_erased(self._tenants, TENANT, AGENT, {"windows": {0: 5}})
        return await super().extract(window, schema, context)


async def test_a_window_erased_during_the_call_gives_nothing(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ErasedMeanwhile(tenants)
    assert await new_handler(settings, tenants, extractor).handle(window_at(4)) == []
    assert len(extractor.seen) == 1


class ErasedAtTheEnd(VectorHandover):
    """A handover during which the window's user is erased: the last that the stage waits for."""

    def __init__(self, tenants: TenantDirectory) -> None:
        self._tenants = tenants

    async def offer(self, owner: Owner, texts: Iterable[str]) -> int:
        now_erased(self._tenants, TENANT, AGENT, {"windows": {0: 5}})
        return 0


async def test_a_window_erased_while_vectors_are_offered_gives_nothing(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ScriptedExtractor()
    assert await new_handler(settings, tenants, extractor, handover=ErasedAtTheEnd(tenants)).handle(window_at(4)) == []
    assert len(extractor.seen) == 1


async def test_a_tombstone_of_a_window_gives_nothing(settings: Settings, tenants: TenantDirectory) -> None:
    extractor = ScriptedExtractor()
    assert await new_handler(settings, tenants, extractor).handle(delivered("windows", 0, KEY, None)) == []
    assert extractor.seen == []


async def test_an_unreadable_erasure_holds_a_window_up(settings: Settings, tenants: TenantDirectory) -> None:
    unreadably_erased(tenants, TENANT)
    with pytest.raises(TransientError):
        await new_handler(settings, tenants, ScriptedExtractor()).handle(window_at(0))


async def test_each_extraction_has_its_own_key(settings: Settings, tenants: TenantDirectory) -> None:
    """One that is made again does not take the place of the one before: compaction keeps both."""
    handler = new_handler(settings, tenants, ScriptedExtractor())
    (one,), (other,) = await handler.handle(window_at(0)), await handler.handle(window_at(0))
    assert one.key != other.key
    assert unmarked_key(one.key or b"") == unmarked_key(other.key or b"") == encode_key(TENANT, AGENT)


def test_a_parked_shared_window_is_found_by_its_users(settings: Settings, tenants: TenantDirectory) -> None:
    """Its key names the session, and its place is that of its messages."""
    found = Window.from_json(window_record().value or b"")
    window = found.model_copy(update={"users": [AGENT, "bo"], "source_partition": 1, "last_offset": 3})
    key = marked_key(encode_key(TENANT, found.session, "shared"), found.id)
    record = delivered("windows", 4, key, window.to_json())
    handler = new_handler(settings, tenants, ScriptedExtractor())
    assert not handler.is_erased(record)
    now_erased(tenants, TENANT, "bo", {"messages": {1: 4}})
    assert handler.is_erased(record)
    assert not handler.is_erased(delivered("windows", 4, key, window.model_copy(update={"last_offset": 4}).to_json()))
