"""Search for the entities nearest to a text, with a wait for the store or the embedding model."""

from collections.abc import Sequence

from memory.records import Memory
from memory.schema.model import EntityType
from models.errors import InputRefusedError, ModelError, TransientModelError
from retrieval.pipeline import RecallPipeline
from runtime.logs import logger
from stores.errors import ModelMismatchError, StoreUnavailableError
from stores.port import TenantScope
from streams.errors import TransientError, transient

_log = logger(__name__)


async def nearest_entities(
    recall: RecallPipeline, scope: TenantScope, texts: Sequence[str], entity_types: Sequence[EntityType], *, generation: str, limit: int = 5
) -> list[Memory]:
    """The entities nearest to texts, at most ``limit`` of each type; none if the model refuses the texts.

    Raises:
        TransientError: The store or the embedding model is unavailable.
    """
    own = [each.name for each in entity_types if "user" in each.keys]
    shared = [each.name for each in entity_types if "user" not in each.keys]
    try:
        return await recall.nearest_entities(scope, texts, own, limit, shared_types=shared, generation=generation)
    except (StoreUnavailableError, ModelMismatchError) as error:
        # Without these entities, the window would store facts a second time. So the window waits for the store.
        raise TransientError(str(error), dependency="store") from error
    except InputRefusedError as error:
        # Waiting would not help, and a dead letter would lose more than the context.
        _log.warning("nearest_entities_skipped", tenant=scope.tenant, user=scope.user, error=str(error))
        return []
    except TransientModelError as error:
        raise transient(error, dependency="embedding") from error
    except ModelError as error:
        raise TransientError(str(error), dependency="embedding") from error
