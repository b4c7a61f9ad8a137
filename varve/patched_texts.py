"""The texts of entities that patches made from an event's messages.

A correction of the event removes the lines of such texts only if it replaces what the messages say; it never rewords them.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from varve_client import AsyncVarveClient, HistoryChange

from memory.keys import entity_key_parts

_MOST: Final = 20
"""Maximum number of entities that are checked if they do not belong to a single user."""


@dataclass(frozen=True, slots=True)
class PatchedText:
    """A field of an entity that a patch has set."""

    entity_id: str
    entity: str
    """Type and key, in the form of ``varve entities``."""
    field: str
    value: Any


async def patched_texts(service: AsyncVarveClient, memory_id: str) -> list[PatchedText]:
    """Finds the fields that patches set from one of an event's messages, and that no later change replaced.

    Args:
        service: A client of the event's tenant.
        memory_id: Id of a memory; only events have such texts.

    Raises:
        VarveClientError: If the service refuses a request, or cannot be reached.
    """
    event = await service.memory(memory_id)
    messages = set(event.evidence)
    if event.kind != "event" or not messages:
        return []
    # Without a user, entities are among the results.
    whose = {"kinds": ["entity"]} if event.user is None else {"user": event.user}
    answer = await service.recall(event.content, limit=_MOST, **whose)
    found = []
    for entity in (*answer.results, *answer.entities):
        if entity.kind != "entity" or not entity.since or entity.entity_key is None:  # only entities with patched fields have `since`
            continue
        key = [*entity_key_parts(entity.entity_key)]
        patches = _patches(service, entity.type, key)
        fields = {change.property async for change in patches if messages & set(change.evidence)}
        found += [
            PatchedText(entity.id, " ".join([entity.type, *key]), each, value)
            for each, value in entity.properties.items()
            if each in fields and value
        ]
    return found


async def _patches(service: AsyncVarveClient, entity_type: str, key: list[str]) -> AsyncIterator[HistoryChange]:
    """The current patches in an entity's history."""
    async for step in service.whole_entity_history(entity_type, key):
        for change in step.changes:
            if change.op == "apply" and change.fate == "stands" and isinstance(change.value, dict) and "replace" in change.value:
                yield change
