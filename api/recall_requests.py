"""What a body asks of the recall, as this deployment has it: its profiles, and which recalls it keeps for training."""

import random
from dataclasses import replace

from api.authentication import Caller
from api.dependencies import Dependencies
from api.problems import ProblemError
from api.recall_body import QueryBody
from memory.schema.model import MemorySchema
from retrieval.profiles import known
from retrieval.request import RecallRequest


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
        body: The request's.
        caller: Whose key it came with.
        schema: The tenant's.
        limit: Most results; None: the setting.
        explain: Whether the parts of each score are asked for.
        trace: Whether it is asked what became of each candidate.

    Raises:
        ProblemError: If it names a profile that nobody knows, or another user than the key's.
    """
    if body.profile is not None and body.profile not in dependencies.profiles:
        raise ProblemError(
            422, "invalid", f"profile: {body.profile!r} is no ranking profile here; there are {known(dependencies.profiles)}"
        )
    settings = dependencies.settings.recall
    profile = dependencies.profiles[body.profile or settings.profile]
    asked = body.request_of(caller, schema, settings=profile.over(settings), limit=limit, explain=explain, trace=trace)
    is_kept = random.random() < settings.training_share
    return replace(asked, keeps_ranking=True) if is_kept else asked
