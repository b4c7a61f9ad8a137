"""Translates the body of a recall into a request of the pipeline, with the deployment's profiles and settings."""

import asyncio
import random

from api.authentication import Caller
from api.dependencies import Dependencies
from api.problems import ProblemError
from api.recall_body import QueryBody
from memory.schema.model import MemorySchema
from retrieval.profiles import known
from retrieval.request import RecallRequest, TailRequest


def build_recall_request(
    dependencies: Dependencies,
    body: QueryBody,
    caller: Caller,
    schema: MemorySchema,
    *,
    limit: int | None,
    explain: bool = False,
    trace: bool = False,
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
        ProblemError: 422 if the profile is unknown, or the weights exceed 1 together; 403 if the body names another user than the key's.
    """
    if body.profile is not None and body.profile not in dependencies.profiles:
        raise ProblemError(
            422, "invalid", f"profile: {body.profile!r} is not a ranking profile; known profiles: {known(dependencies.profiles)}"
        )
    settings = dependencies.settings.recall
    body.check_weights(dependencies.profiles[body.profile or settings.profile].over(settings))
    memory_filter = body.memory_filter(caller)
    return RecallRequest(
        filter=memory_filter,
        query=body.query,
        mode=body.mode,
        # The nearest entities belong to a user: without one, entities are results like other memories.
        entity_types=() if memory_filter.scope.user is None else tuple(each.name for each in schema.entity_types),
        time_zone=caller.tenant.messages.time_zone,
        tail=None if body.session is None else TailRequest(session=body.session, user=caller.key.user),
        limit=limit,
        profile=body.profile,
        time_weight=body.time_weight,
        business_weight=body.business_weight,
        min_confidence=body.min_confidence,
        keyword_quota=body.keyword_quota,
        type_weights={event_type.name: event_type.weight for event_type in schema.event_types},
        explain=explain,
        trace=trace,
        keeps_ranking=random.random() < settings.training_share,
    )


def deadline_of(dependencies: Dependencies, deadline_ms: int | None) -> float:
    """The deadline of a request that has just arrived, in seconds of the event loop's clock.

    Args:
        dependencies: For the setting.
        deadline_ms: The body's. None: the setting.
    """
    seconds = dependencies.settings.recall.deadline_s if deadline_ms is None else deadline_ms / 1000
    return asyncio.get_running_loop().time() + seconds
