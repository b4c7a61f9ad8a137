"""The extraction stage: one call per window, whatever the extractor."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from control.tenants import TenantDirectory
from extraction.errors import UnusableAnswerError
from extraction.port import ExtractionContext, Extractor
from memory.headers import origin_of
from memory.keys import distinct_key
from memory.records import Extraction, Memory, Window
from memory.schema.model import MemorySchema
from memory.topics import EXTRACTIONS, WINDOWS
from models.errors import BudgetExceededError, InputRefusedError, ModelConfigurationError, ModelError, TransientModelError
from retrieval.pipeline import Recall
from runtime.errors import RedisUnavailableError
from runtime.kafka import OutgoingRecord
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.recall_history import RecallHistory
from runtime.recent_patches import WindowPlace
from runtime.session_history import EarlierWindows, SessionHistory
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.errors import PoisonRecordError, TransientError, transient
from streams.stages.extraction.entity_context import EntityContext, EntityNotes
from streams.stages.extraction.lanes import is_patched
from streams.stages.extraction.recent_patches import laid_down_by
from streams.stages.extraction.similar_keys import SimilarKeys
from streams.tenancy import is_erased, schema_at, tenant_of

_log = logger(__name__)


class ExtractionHandler:
    """Extracts windows, and returns the extractions to produce.

    Args:
        settings: The settings in force.
        tenants: The known tenants, with their schemas.
        metrics: Counts dropped parts of answers, by reason.
        extractor: Extracts a window.
        recall: Finds the entities for the prompt. None: the prompt has none.
        recall_history: Recent results of recalls. None: echoes are recognised only by their mark.
        entity_notes: Entity data that is newer than the store. None: there is none.
        similar_keys: Matches key values by meaning, if the schema says so. None: each value is its own thing.
        session_history: Results of the session's earlier windows. None: the extractor gets none.
        generation: The generation to create, for the tenants that have it. None: each tenant's live one.
        only: Tenants whose windows it extracts; it skips other tenants' windows. None: all.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        tenants: TenantDirectory,
        metrics: Metrics,
        extractor: Extractor,
        recall: Recall | None,
        recall_history: RecallHistory | None,
        entity_notes: EntityNotes | None,
        similar_keys: SimilarKeys | None,
        session_history: SessionHistory | None,
        generation: str | None = None,
        only: frozenset[str] | None = None,
    ) -> None:
        self._extractions_topic = settings.topic(EXTRACTIONS.name)
        self._attempts = settings.extraction.attempts
        self._tenants = tenants
        self._records = metrics.records
        self._extractor = extractor
        self._entity_context = None if recall is None else EntityContext(recall=recall, notes=entity_notes)
        self._entity_notes = entity_notes
        self._similar_keys = similar_keys
        self._recall_history = recall_history
        self._session_history = session_history
        self._generation = generation
        self._only = only

    def tenant_of(self, record: ConsumedRecord) -> str:
        """The tenant in the record's key; empty if it has none."""
        return record.tenant

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        """Extracts one window. A window of an erased user, or the tombstone that erased it, gives nothing."""
        if record.value is None or (self._only is not None and self.tenant_of(record) not in self._only):
            return []
        window = Window.from_json(record.value)
        if self._is_erased(window, record):
            self._records.labels("extraction", "erased").inc()
            return []
        extracted = await self._extracted(window, record)
        # Checked again, since a call takes time: data erased in the meantime is not stored.
        return [] if self._is_erased(window, record) else extracted

    def _is_erased(self, window: Window, record: ConsumedRecord) -> bool:
        return is_erased(self._tenants, window.tenant, window.user, record, WINDOWS)

    async def _extracted(self, window: Window, record: ConsumedRecord) -> list[OutgoingRecord]:
        """Extracts a window. Each wait may be long, and the user may be erased meanwhile: nothing is asked or written to Redis then."""

        def may_note() -> bool:
            return not self._is_erased(window, record)

        tenant = tenant_of(self._tenants, window.tenant)
        generation = tenant.generation if self._generation is None else self._generation
        if not tenant.has_generation(generation):
            return []
        schema_ref = tenant.schema_of(generation)
        schema = schema_at(self._tenants, schema_ref)
        place = WindowPlace(window.tenant, window.user, generation, record.partition, record.offset)
        earlier = await self._earlier_windows(window, generation)
        entities: tuple[Memory, ...] = ()
        if self._entity_context is not None:
            entities = await self._entity_context.entities_for(window, schema, place, may_note=may_note)
        context = ExtractionContext(
            session_summary=earlier.summary,
            session_events=earlier.events,
            entities=entities,
            recalled_hashes=await self._recalled_hashes(window, datetime.fromtimestamp(record.timestamp, UTC)),
            generation=generation,
            attempt=_first_attempt(record, self._attempts),
        )
        if not may_note():
            return []
        try:
            extraction = await self._extract(window, schema, context)
        except BudgetExceededError as error:
            raise TransientError(str(error), dependency="budget", retry_after=error.retry_after, counts_as_attempt=False) from error
        except UnusableAnswerError as error:
            raise PoisonRecordError("bad_answer", str(error), raw_answer=error.raw) from error
        except TransientModelError as error:
            raise transient(error) from error
        except InputRefusedError as error:
            raise PoisonRecordError("input_refused", str(error)) from error
        except ModelError as error:
            # A wrong key or model name is not the window's fault. While every call is refused, the breaker makes all windows wait.
            raise TransientError(
                str(error),
                dependency=error.dependency,
                concerns_record=not (isinstance(error, ModelConfigurationError) and error.refuses_credentials),
            ) from error
        if not may_note():
            return []
        extraction = extraction.model_copy(
            update={"drops": tenant.drops_of(generation), "schema_name": schema_ref.name, "schema_revision": schema_ref.revision}
        )
        for each in extraction.dropped:
            self._records.labels("extraction", f"dropped_{each.what}_{each.reason}").inc(each.count)
        if not extraction.events and not extraction.patches:
            self._records.labels("extraction", "nothing_found").inc()
        settled = extraction
        if self._similar_keys is not None:
            settled = await self._similar_keys.settled(extraction, schema, place, may_note=may_note)
        if not may_note():
            return []
        await self._remember(extraction, settled, schema, context, place)
        return [OutgoingRecord(self._extractions_topic, distinct_key(settled.tenant, settled.user), settled.to_json())]

    async def _extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """Retries after an unusable answer. Redeliveries number the attempts in the same way, for the answer cache."""
        last = context.attempt + self._attempts - 1
        while True:
            try:
                return await self._extractor.extract(window, schema, context)
            except UnusableAnswerError as error:
                if context.attempt >= last:
                    raise
                _log.warning("extraction_retried", tenant=window.tenant, window=window.id, attempt=context.attempt, error=str(error))
                context = replace(context, attempt=context.attempt + 1)

    async def _earlier_windows(self, window: Window, generation: str) -> EarlierWindows:
        if self._session_history is None:
            return EarlierWindows()
        try:
            return await self._session_history.before(window, generation)
        except RedisUnavailableError:
            return EarlierWindows()

    async def _remember(
        self, as_made: Extraction, settled: Extraction, schema: MemorySchema, context: ExtractionContext, place: WindowPlace
    ) -> None:
        """Stores the result for later windows before the window is acknowledged, because the next one may begin then."""
        with suppress(RedisUnavailableError):
            if self._session_history is not None:
                # In the extractor's own words, so that repetitions are recognised.
                await self._session_history.add(as_made)
            if self._entity_notes is not None and is_patched(schema):
                # In a thread: the searches may take about 100 ms.
                laid_down = await asyncio.to_thread(laid_down_by, settled, schema, context.entities)
                await self._entity_notes.laid_down.add(place, laid_down)

    async def _recalled_hashes(self, window: Window, closed_at: datetime) -> frozenset[str]:
        if self._recall_history is None:
            return frozenset()
        try:
            return await self._recall_history.of(window.tenant, window.user, until=closed_at)
        except RedisUnavailableError:
            return frozenset()


def _first_attempt(record: ConsumedRecord, attempts: int) -> int:
    """Number of the first attempt: a redriven window skips the cached answers that it failed on; a redelivered one does not."""
    return 0 if origin_of(record.headers) is None else (record.offset + 1) * attempts
