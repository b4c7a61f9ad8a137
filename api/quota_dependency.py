"""A route's admission under its tenant's quotas."""

from collections.abc import AsyncIterator, Mapping
from typing import Annotated

from fastapi import Depends

from api.authentication import RecallCaller
from api.dependencies import AppDependencies


async def _recall_quota(caller: RecallCaller, dependencies: AppDependencies) -> AsyncIterator[Mapping[str, str]]:
    # Before the quota is asked for, and the body is read.
    dependencies.admission.require_room(caller.tenant)
    async with dependencies.quotas.recall(caller.tenant) as headers:
        yield headers


RecallQuota = Annotated[Mapping[str, str], Depends(_recall_quota)]
"""Admits a recall for as long as its route runs, and gives the headers of its response."""
