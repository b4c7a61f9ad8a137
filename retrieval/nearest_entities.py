"""The entities nearest to a query, some of each type."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from memory.records import Memory
from retrieval.prepared_store import PreparedStore
from stores.port import RecallQuery, ScoredMemory, TenantScope


async def nearest_of_types(store: PreparedStore, query: RecallQuery, *, own: Sequence[str], shared: Sequence[str]) -> list[Memory]:
    """At most the query's ``limit`` of each type, best first within a type.

    Args:
        store: The memories.
        query: Without types. Its limit is that of a type.
        own: Types to search within the query's scope.
        shared: Types whose entities belong to no single user: they are searched in the whole tenant, whatever the scope's user.

    Raises:
        StoreError: As the store raises it.
    """
    in_tenant = replace(query, filter=replace(query.filter, scope=TenantScope(query.filter.scope.tenant)))
    of_scope, of_nobody = await asyncio.gather(_each_type(store, query, own), _each_type(store, in_tenant, shared))
    # An entity stays its user's, even if its type's key no longer names the user.
    return of_scope + [each for each in of_nobody if each.user is None]


async def _each_type(store: PreparedStore, query: RecallQuery, types: Sequence[str]) -> list[Memory]:
    types = tuple(dict.fromkeys(types))
    most = max(query.prefetch, query.limit)
    by_type: dict[str, list[ScoredMemory]] = {}
    left = types
    while left:
        found = await store.recall(replace(_of_types(query, left), limit=most))
        by_type |= {one: [each for each in found if each.memory.type == one][: query.limit] for one in left}
        if len(found) < most:
            break
        # There may be more than these, and those of one type have left no room for another's.
        hidden = tuple(each for each in left if len(by_type[each]) < query.limit)
        if hidden == left:
            by_type |= zip(left, await asyncio.gather(*(store.recall(_of_types(query, (each,))) for each in left)), strict=True)
            break
        left = hidden
    return [each.memory for one in types for each in by_type[one]]


def _of_types(query: RecallQuery, types: tuple[str, ...]) -> RecallQuery:
    return replace(query, filter=replace(query.filter, types=types))
