"""The extraction stage: one call per window, whatever the extractor."""

from memory.errors import RecordError
from memory.keys import decode_key, encode_key
from memory.records import Memory, Window
from memory.schema.model import MemorySchema
from models.errors import BudgetExceededError, ModelAnswerError, TransientModelError
from models.extraction.port import ExtractionContext, Extractor
from retrieval.errors import StoreUnavailableError
from retrieval.recall import Recall
from retrieval.stores.port import TenantScope
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.recalled import RecalledHashes
from runtime.settings import Settings
from runtime.tenants import TenantDirectory
from streams.delivery.records import Delivered, Outgoing
from streams.errors import PoisonRecord, TransientFailure
from streams.tenancy import schema_of

_log = logger(__name__)


class ExtractionHandler:
    """Handles windows: extracts, and gives the extraction to be produced.

    Args:
        settings: The settings in force.
        tenants: Who is known, with which schema.
        extractor: Does the work.
        nearest: Finds the entities that the extractor is shown; None: it is shown none.
        recalled: What recalls returned lately; None: echoes are known by their mark only.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        tenants: TenantDirectory,
        extractor: Extractor,
        nearest: Recall | None,
        recalled: RecalledHashes | None,
    ) -> None:
        self._extractions_topic = settings.topic("extractions")
        self._tenants = tenants
        self._extractor = extractor
        self._nearest = nearest
        self._recalled = recalled

    def tenant_of(self, record: Delivered) -> str:
        """The tenant in the record's key; the empty text where it has none."""
        try:
            return decode_key(record.key or b"")[0]
        except RecordError:
            return ""

    async def handle(self, record: Delivered) -> list[Outgoing]:
        """Extracts one window."""
        window = Window.from_json(record.value or b"")
        schema = schema_of(self._tenants, window.tenant)
        context = ExtractionContext(entities=await self._entities(window, schema), recalled_hashes=await self._hashes(window))
        try:
            extraction = await self._extractor.extract(window, schema, context)
        except BudgetExceededError as error:
            raise TransientFailure(str(error), dependency="budget", retry_after=error.retry_after) from error
        except TransientModelError as error:
            raise TransientFailure(str(error), dependency="llm", retry_after=error.retry_after) from error
        except ModelAnswerError as error:
            raise PoisonRecord("bad_answer", str(error), raw_answer=error.raw) from error
        return [Outgoing(self._extractions_topic, encode_key(extraction.tenant, extraction.user), extraction.to_json())]

    async def _entities(self, window: Window, schema: MemorySchema) -> tuple[Memory, ...]:
        types = [entity_type.name for entity_type in schema.entity_types]
        if self._nearest is None or not types:
            return ()
        text = "\n".join(message.text for message in window.messages)
        try:
            return tuple(await self._nearest.nearest_entities(TenantScope(window.tenant, window.user), text, types))
        except StoreUnavailableError as error:
            # Patches without sight of the entity would append what is there already: better to wait for the store.
            raise TransientFailure(str(error), dependency="store") from error

    async def _hashes(self, window: Window) -> frozenset[str]:
        if self._recalled is None:
            return frozenset()
        try:
            return await self._recalled.of(window.tenant, window.user)
        except RedisUnavailableError as error:
            _log.warning("echoes of recalls are known by their mark alone", why=str(error))
            return frozenset()
