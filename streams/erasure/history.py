"""The steps of an entity's history, as the vector store has them."""

from collections.abc import AsyncIterator
from datetime import datetime

from memory.records import Step
from retrieval.stores.port import MemoryStore, TenantScope


async def steps_of(store: MemoryStore, scope: TenantScope, entity: str) -> AsyncIterator[Step]:
    """Every step of an entity that is kept.

    Args:
        store: Has them.
        scope: Whose entity.
        entity: Its id.

    Raises:
        StoreUnavailableError: If the store is away.
    """
    after: str | None = None
    while page := await store.steps(scope, entity, after=after):
        for step in page:
            yield step
        after = page[-1].id


def is_recorded_since(step: Step, moment: datetime) -> bool:
    """Whether a step came at a moment or later."""
    recorded = step.contribution.recorded_at
    return recorded is not None and recorded >= moment
