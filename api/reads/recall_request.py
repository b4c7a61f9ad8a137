"""Builds the request of the recall pipeline from the body of ``/v1/recall`` or ``/v1/context``."""

import asyncio
import random
from collections.abc import Mapping

from api.auth.caller import Caller
from api.dependencies import Dependencies
from api.problems import ProblemError
from api.reads.recall_body import QueryBody
from api.reads.schema_types import check_types
from memory.schema.model import MemorySchema
from retrieval.plan import profile_name
from retrieval.profiles import Profile, known
from retrieval.request import RecallRequest, SiftOptions, TailRequest
from stores.port import MemoryFilter


def entity_types_of(schema: MemorySchema, asked: MemoryFilter, *, is_bound: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types whose nearest entities a recall returns: those of one user, and those that all users of the tenant contribute to.

    Args:
        schema: The tenant's schema.
        asked: The filter. Without a user, entities are results like other memories, so there are no types.
        is_bound: Whether the key may read one user only. Then there are no shared types.
    """
    if asked.scope.user is None or (asked.kinds and "entity" not in asked.kinds):
        return (), ()
    own = tuple(each.name for each in schema.entity_types if not each.is_shared)
    return own, () if is_bound else tuple(each.name for each in schema.entity_types if each.is_shared)


def build_recall_request(
    dependencies: Dependencies,
    body: QueryBody,
    caller: Caller,
    schema: MemorySchema,
    *,
    limit: int | None,
    explain: bool,
    trace: bool,
) -> RecallRequest:
    """The recall that a body asks for.

    Args:
        dependencies: For the profiles, and the share of recalls whose ranking is kept.
        body: The request's body.
        caller: The owner of the request's key.
        schema: The tenant's schema.
        limit: Most results. None: the setting.
        explain: Whether to return the parts of each score.
        trace: Whether to return the outcome of each candidate.

    Raises:
        ProblemError: 422 if the profile or a type is unknown, the weights exceed 1 together, or the method archives no messages to show;
            403 if the body names another user than the key's.
    """
    settings = dependencies.settings.recall
    profile = profile_name(body.profile, schema.method, settings)
    _check_profile(profile, body, schema, dependencies.profiles)
    check_types(dependencies, caller.tenant, body.types)
    body.check_weights(dependencies.profiles[profile].over(settings))
    memory_filter = body.memory_filter(caller)
    own, shared = entity_types_of(schema, memory_filter, is_bound=caller.key.user is not None)
    return RecallRequest(
        filter=memory_filter,
        query=body.query,
        mode=body.mode,
        sift=SiftOptions() if body.sift is None else body.sift.options(schema),
        entity_types=own,
        shared_types=shared,
        time_zone=caller.tenant.messages.time_zone,
        tail=None if body.session is None else TailRequest(session=body.session, user=caller.key.user),
        limit=limit,
        profile=profile,
        time_weight=body.time_weight,
        business_weight=body.business_weight,
        freshness_window_s=body.freshness_window_s,
        min_confidence=body.min_confidence,
        keyword_quota=body.keyword_quota,
        method=schema.method,
        type_weights={event_type.name: event_type.weight for event_type in schema.event_types},
        explain=explain,
        trace=trace,
        keeps_ranking=random.random() < settings.training_share,
    )


def _check_profile(name: str, body: QueryBody, schema: MemorySchema, profiles: Mapping[str, Profile]) -> None:
    if name in profiles:
        return
    problem = f"profile: {name!r} is not a ranking profile; known profiles: {known(profiles)}"
    if body.profile is None and schema.method is not None:
        problem += f". The tenant's method {schema.method.name!r} names it (Retrieve.Profile): correct the method, or send a profile"
    raise ProblemError(422, "invalid", problem)


def deadline_of(dependencies: Dependencies, deadline_ms: int | None) -> float:
    """The deadline of a request that has just arrived, in seconds of the event loop's clock.

    Args:
        dependencies: For the setting.
        deadline_ms: The body's. None: the setting.
    """
    seconds = dependencies.settings.recall.deadline_s if deadline_ms is None else deadline_ms / 1000
    return asyncio.get_running_loop().time() + seconds
