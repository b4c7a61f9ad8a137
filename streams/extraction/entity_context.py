"""Which entities a window is shown: those nearest to it, and the same ones when it comes again."""

from contextlib import suppress

from memory.records import Memory, Window
from memory.schema.model import MemorySchema
from models.errors import InputRefusedError, ModelError, TransientModelError
from retrieval.errors import ModelMismatchError, StoreUnavailableError
from retrieval.recall import Recall
from retrieval.stores.port import TenantScope
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.prompt_entities import PromptEntities
from streams.errors import TransientError

_log = logger(__name__)


class EntityContext:
    """Finds what an extractor is shown of the entities that there are.

    Args:
        nearest: Finds the entities nearest to a text.
        prompt_entities: What windows were given that come again; None: whatever is nearest now.
    """

    def __init__(self, *, nearest: Recall, prompt_entities: PromptEntities | None) -> None:
        self._nearest = nearest
        self._prompt_entities = prompt_entities

    async def to(self, window: Window, schema: MemorySchema, generation: str) -> tuple[Memory, ...]:
        """The entities nearest to a window; the same ones when it comes again, for by then they know what it says.

        Raises:
            TransientError: The store or the embedding model is away.
        """
        if not schema.entity_types:
            return ()
        if self._prompt_entities is None:
            return await self._nearest_to(window, schema, generation)
        try:
            shown = await self._prompt_entities.of(window.tenant, window.id, generation)
        except RedisUnavailableError:
            return await self._nearest_to(window, schema, generation)
        if shown is not None:
            return shown
        entities = await self._nearest_to(window, schema, generation)
        with suppress(RedisUnavailableError):
            await self._prompt_entities.remember(window.tenant, window.id, generation, entities)
        return entities

    async def _nearest_to(self, window: Window, schema: MemorySchema, generation: str) -> tuple[Memory, ...]:
        texts = [message.text for message in window.messages]
        scope = TenantScope(window.tenant, window.user)
        own = [each.name for each in schema.entity_types if "user" in each.keys]
        shared = [each.name for each in schema.entity_types if "user" not in each.keys]
        try:
            nearest = await self._nearest.nearest_entities(scope, texts, own, shared_types=shared, generation=generation)
        except (StoreUnavailableError, ModelMismatchError) as error:
            # Patches without sight of the entity would append what is there already: better to wait for the store.
            raise TransientError(str(error), dependency="store") from error
        except InputRefusedError as error:
            # Waiting would not mend it, and to give the window up would lose more than the sight of what is known.
            _log.warning("the window is shown no entities: none of its messages can be embedded", window=window.id, why=str(error))
            return ()
        except TransientModelError as error:
            raise TransientError(str(error), dependency="embedding", retry_after=error.retry_after) from error
        except ModelError as error:
            raise TransientError(str(error), dependency="embedding") from error
        messages = {message.id for message in window.messages}
        return tuple(entity for entity in nearest if messages.isdisjoint(entity.message_ids))
