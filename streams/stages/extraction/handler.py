"""The extraction stage: one call of an extractor per window."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from control.tenants import Tenant, TenantDirectory
from extraction.errors import UnusableAnswerError
from extraction.port import ExtractionContext, Extractor
from extraction.shared_windows import part_of_window, parts_of, users_to_show
from memory.errors import KeyFormatError, RecordError
from memory.headers import origin_of
from memory.keys import decode_key, distinct_key
from memory.records import Extraction, Memory, Window
from memory.records.wording import further_indexed_text, indexed_text
from memory.retention import keeps_nothing, limits_at
from memory.schema.model import MemorySchema
from memory.sources import names_origins, with_sources
from memory.topics import EXTRACTIONS, MESSAGES, WINDOWS
from models.embedding.handover import VectorHandover
from models.errors import BudgetExceededError, InputRefusedError, ModelConfigurationError, ModelError, TransientModelError
from models.redaction.windows import redacted_window
from runtime.clocks import SteadyClock
from runtime.errors import RedisUnavailableError
from runtime.kafka import OutgoingRecord
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.redis.recent_patches import WindowPlace
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.errors import PoisonRecordError, TransientError, transient
from streams.stages.extraction.entity_context import EntityContext
from streams.stages.extraction.similar_keys import SimilarKeys
from streams.stages.extraction.window_notes import WindowNotes
from streams.stages.tenancy import is_erased, is_held, is_place_erased, schema_at, tenant_of

_log = logger(__name__)
_USERS: Final = b'"users":["'
"""In the JSON of shared windows only."""
_MAX_USERS: Final = 8
"""Users of a shared window whose entities and earlier windows the extractor gets: those with the most messages."""


class ExtractionHandler:
    """Extracts windows, and returns the extractions to produce.

    Args:
        settings: The settings in force.
        tenants: The known tenants, with their schemas.
        metrics: Counts dropped parts of answers, by reason.
        extractor: Extracts a window.
        entity_context: Finds the entities for a window. None: windows are extracted without entities.
        notes: Data that windows leave for later windows.
        similar_keys: Matches key values by meaning, if the schema says so. None: each value is its own thing.
        handover: Takes the vectors of new memories to the index stage. None: the index computes them.
        forget_answers: Forgets the cached answers of models about some users and windows of a tenant. None: there is no cache.
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
        entity_context: EntityContext | None,
        notes: WindowNotes,
        similar_keys: SimilarKeys | None,
        handover: VectorHandover | None = None,
        forget_answers: Callable[[str, Sequence[str]], Awaitable[None]] | None = None,
        generation: str | None = None,
        only: frozenset[str] | None = None,
    ) -> None:
        # A clock that steps years ahead would put new windows beyond retention before the worker stops.
        self._clock = SteadyClock()
        self._extractions_topic = settings.topic(EXTRACTIONS.name)
        self._attempts = settings.extraction.attempts
        self._tenants = tenants
        self._records = metrics.records
        self._extractor = extractor
        self._entity_context = entity_context
        self._notes = notes
        self._similar_keys = similar_keys
        self._handover = handover
        self._forget_answers = forget_answers
        self._generation = generation
        self._only = only

    def is_erased(self, record: ConsumedRecord) -> bool:
        """Whether a record is a window of an erased user, or the tombstone that erased it; from its key, or its users if it is shared.

        Raises:
            TransientError: This process's control data is too old to decide.
        """
        if record.value is None:
            return True
        try:
            if _USERS in record.value and (window := Window.from_json(record.value)).users:
                # The sessions stage publishes the next revision of a shared window, without the erased user's messages.
                return any(self._is_erased_in_session(window, user) for user in window.users)
            tenant, user = decode_key(record.key or b"")
        except (RecordError, KeyFormatError, ValueError):
            return False  # no window: it goes to the dead letters when it is handled
        return is_erased(self._tenants, tenant, user, record, WINDOWS)

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        """Extracts one window, into one extraction for each of its users.

        A window of an erased user, or the tombstone that erased it, gives nothing. Of a shared window, the messages of others count.
        """
        if record.value is None or (self._only is not None and record.tenant not in self._only):
            return []
        window = self._without_erased(Window.from_json(record.value))
        if window is None or self._is_erased(window, record):
            self._records.labels("extraction", "erased").inc()
            return []
        redaction = tenant_of(self._tenants, window.tenant).redaction
        if redaction.kinds and not redaction.restore:
            try:
                window = await asyncio.to_thread(redacted_window, window, redaction)
            except ModelConfigurationError as error:
                # The worker lacks the libraries: nothing is extracted until it has them.
                raise TransientError(str(error), dependency="redaction", concerns_record=False, counts_as_attempt=False) from error
        if window.revision and self._forget_answers is not None:
            # They were made from a text that was edited, deleted or erased. Those of a shared window are cached by the window.
            with suppress(RedisUnavailableError):
                await self._forget_answers(window.tenant, [window.id if window.users else window.user])
        extracted = await self._extracted(window, record)
        # Checked again, since a call takes time: data erased in the meantime is not stored.
        return [] if self._is_erased(window, record) else extracted

    def _is_erased(self, window: Window, record: ConsumedRecord) -> bool:
        """Whether the user of the window is erased, or one of the users of a shared one: then its next revision follows."""
        if window.users:
            return any(self._is_erased_in_session(window, user) for user in window.users)
        return is_erased(self._tenants, window.tenant, window.user, record, WINDOWS)

    def _without_erased(self, window: Window) -> Window | None:
        """A shared window without the messages of erased users; None if no user remains."""
        erased = {user for user in window.users if self._is_erased_in_session(window, user)}
        if not erased:
            return window
        users = [user for user in window.users if user not in erased]
        messages = [each for each in window.messages if each.user not in erased]
        return window.model_copy(update={"users": users, "user": users[0], "messages": messages}) if users else None

    def _is_erased_in_session(self, window: Window, user: str) -> bool:
        """Whether an erasure covers a user's messages in a shared window, whose record is not among the user's own windows."""
        return is_place_erased(self._tenants, window.tenant, user, MESSAGES.name, window.source_partition, window.last_offset)

    def _is_beyond_retention(self, tenant: Tenant, schema: MemorySchema, window: Window) -> bool:
        """Whether the events stage would drop all results of a window, so that no call of a model is worth its cost."""
        if not tenant.retention or any(is_held(self._tenants, tenant.id, user) for user in window.users or [window.user]):
            return False
        return keeps_nothing(window, limits_at(tenant.retention, self._clock.now()), schema.type_names)

    async def _extracted(self, window: Window, record: ConsumedRecord) -> list[OutgoingRecord]:
        """Extracts a window. Once its user is erased, which a long call may outlast, it calls no model and writes nothing to Redis."""

        def may_note() -> bool:
            return not self._is_erased(window, record)

        tenant = tenant_of(self._tenants, window.tenant)
        generation = tenant.generation if self._generation is None else self._generation
        if not tenant.has_generation(generation):
            return []
        schema_ref = tenant.schema_of(generation)
        schema = schema_at(self._tenants, schema_ref)
        if self._is_beyond_retention(tenant, schema, window):
            self._records.labels("extraction", "beyond_retention").inc()
            return []
        views = {user: part_of_window(window, user) if window.users else window for user in users_to_show(window, _MAX_USERS)}
        places = {user: WindowPlace(window.tenant, user, generation, record.partition, record.offset) for user in window.users or views}
        context = await self._context(record, window, schema, generation, views, places, may_note=may_note)
        if not may_note():
            return []
        extraction = await self._extract(window, schema, context) if window.messages else self._nothing_of(window, generation)
        if not may_note():
            return []
        extraction = await self._notes.without_routines(extraction, window)
        if not may_note():
            return []
        extraction = (
            await asyncio.to_thread(with_sources, extraction, window) if names_origins(window) else with_sources(extraction, window)
        )
        extraction = extraction.model_copy(
            update={
                "drops": tenant.drops_of(generation),
                "schema_name": schema_ref.name,
                "schema_revision": schema_ref.revision,
                "revision": window.revision,
            }
        )
        self._count(extraction)
        outputs = []
        for part in parts_of(extraction, window, schema) if window.users else [extraction]:
            place, settled = places[part.user], part
            if self._similar_keys is not None:
                settled = await self._similar_keys.settled(part, schema, place, may_note=may_note)
            if not may_note():
                return []
            await self._notes.remember(window, part, settled, schema, context, place)
            await self._offer_vectors(settled)
            outputs.append(OutgoingRecord(self._extractions_topic, distinct_key(settled.tenant, settled.user), settled.to_json()))
        return outputs

    async def _context(
        self,
        record: ConsumedRecord,
        window: Window,
        schema: MemorySchema,
        generation: str,
        views: Mapping[str, Window],
        places: Mapping[str, WindowPlace],
        *,
        may_note: Callable[[], bool],
    ) -> ExtractionContext:
        """The earlier results and the entities that the extractor sees."""
        earlier = await self._notes.earlier_windows(views.values(), generation)
        entities: dict[str, Memory] = {}
        if self._entity_context is not None and window.messages:
            for user, view in views.items():
                edited = self._extractor.edited_entities(view, schema)
                for entity in await self._entity_context.entities_for(view, schema, places[user], edited=edited, may_note=may_note):
                    entities.setdefault(entity.id, entity)
        return ExtractionContext(
            session_summary=earlier.summary,
            session_events=earlier.events,
            entities=tuple(entities.values()),
            recalled_hashes=await self._notes.recalled_hashes(window, datetime.fromtimestamp(record.timestamp, UTC)),
            generation=generation,
            attempt=_first_attempt(record, self._attempts),
        )

    def _count(self, extraction: Extraction) -> None:
        for each in extraction.dropped:
            self._records.labels("extraction", f"dropped_{each.what}_{each.reason}").inc(each.count)
        if not extraction.events and not extraction.patches:
            self._records.labels("extraction", "nothing_found").inc()

    async def _offer_vectors(self, extraction: Extraction) -> None:
        """Has the texts of the events embedded now, so that the index stage finds their vectors."""
        if self._handover is None:
            return
        texts = [text for event in extraction.events for text in (indexed_text(event), further_indexed_text(event)) if text is not None]
        await self._handover.offer((extraction.tenant, extraction.user), texts)

    def _nothing_of(self, window: Window, generation: str) -> Extraction:
        """The extraction of a window whose messages were all deleted."""
        assert window.ended_at is not None
        return Extraction(
            window_id=window.id,
            tenant=window.tenant,
            user=window.user,
            session=window.session,
            sequence=window.sequence,
            generation=generation,
            extractor=self._extractor.name,
            schema_name="",
            message_ids=[],
            window_end=window.ended_at,
        )

    async def _extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """Calls the extractor.

        Raises:
            TransientError: If the window is extracted later.
            PoisonRecordError: If the model refuses the window, or gives no usable answer to it.
        """
        try:
            return await self._extract_with_retries(window, schema, context)
        except BudgetExceededError as error:
            raise TransientError(str(error), dependency="budget", retry_after_s=error.retry_after_s, counts_as_attempt=False) from error
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

    async def _extract_with_retries(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
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


def _first_attempt(record: ConsumedRecord, attempts: int) -> int:
    """Number of the first attempt: a redriven window skips the cached answers that it failed on; a redelivered one does not."""
    return 0 if origin_of(record.headers) is None else (record.offset + 1) * attempts
