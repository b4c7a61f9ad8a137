"""Which entities stand in the prompt of a window: the nearest ones, and the same ones in a redelivery."""

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
    """Finds the entities for the prompt of a window.

    Args:
        recall: Finds the entities nearest to a text.
        prompt_entities: Remembers the entities of each window for its redelivery; None: nothing does.
    """

    def __init__(self, *, recall: Recall, prompt_entities: PromptEntities | None) -> None:
        self._recall = recall
        self._prompt_entities = prompt_entities

    async def entities_for(self, window: Window, schema: MemorySchema, generation: str) -> tuple[Memory, ...]:
        """The entities nearest to a window. A redelivery gets the same ones: the newer ones hold what the window says.

        Args:
            window: The window.
            schema: The schema of the generation.
            generation: The generation of memories.

        Raises:
            TransientError: If the store or the embedding model is away.
        """
        if not schema.entity_types:
            return ()
        if self._prompt_entities is None:
            return await self._nearest_to(window, schema, generation)
        try:
            remembered = await self._prompt_entities.of(window.tenant, window.id, generation)
        except RedisUnavailableError:
            return await self._nearest_to(window, schema, generation)
        if remembered is not None:
            return remembered
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
            nearest = await self._recall.nearest_entities(scope, texts, own, shared_types=shared, generation=generation)
        except (StoreUnavailableError, ModelMismatchError) as error:
            # Without the entity in the prompt, patches would append what it holds already. So the window waits for the store.
            raise TransientError(str(error), dependency="store") from error
        except InputRefusedError as error:
            # Waiting would not help, and a dead letter would lose more than the context.
            _log.warning("entity_context_skipped", tenant=window.tenant, window=window.id, error=str(error))
            return ()
        except TransientModelError as error:
            raise TransientError(str(error), dependency="embedding", retry_after=error.retry_after) from error
        except ModelError as error:
            raise TransientError(str(error), dependency="embedding") from error
        messages = {message.id for message in window.messages}
        return tuple(entity for entity in nearest if messages.isdisjoint(entity.message_ids))
