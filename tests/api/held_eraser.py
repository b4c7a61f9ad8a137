"""An eraser that waits until the test releases it, and erasures for it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from control import Draft
from control.erasure import subject_of
from control.erasure_changes import begin_erasure, finish_erasure
from control.tenants import TenantDirectory
from control.unfinished_erasures import ErasureRequest
from runtime.redis.client import GuardedRedis
from stores.port import MemoryStore
from tests.control_log import now_known
from tests.erased_users import ASKED_AT

STORE = cast(MemoryStore, "the store")


class HeldEraser:
    """Records the users that it should erase, and finishes when it is released."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[str], str]] = []
        self.may_go_on = asyncio.Semaphore(0)
        self.problem: Exception | None = None
        self.swallows = 0
        """How many cancellations it does not notice."""

    async def __call__(self, tenant: str, users: Sequence[str], *, by: str, store: MemoryStore, redis: GuardedRedis) -> None:
        assert store is STORE
        self.calls.append((tenant, [*users], by))
        while True:
            try:
                await self.may_go_on.acquire()
                break
            except asyncio.CancelledError:
                if not self.swallows:
                    raise
                self.swallows -= 1
        if self.problem is not None:
            raise self.problem


def asked_for(tenant: str, user: str, *, by: str, at: datetime = ASKED_AT) -> ErasureRequest:
    """An erasure as an operator asks for it."""
    return ErasureRequest(tenant=tenant, user=user, by=by, asked_at=at)


def now_begun(tenants: TenantDirectory, tenant: str, user: str, *, at: datetime = ASKED_AT) -> None:
    """Makes it known that an erasure has begun."""
    now_known(tenants, lambda draft: begin_erasure(draft, tenant, user, at=at))


def now_done(tenants: TenantDirectory, tenant: str, user: str, *, at: datetime = ASKED_AT) -> None:
    """Makes the receipt of an erasure known."""

    def change(draft: Draft) -> None:
        begin_erasure(draft, tenant, user, at=at)
        finish_erasure(draft, subject_of(tenant, user), begun_at=at, at=at, gone_by=at, found={}, remains=())

    now_known(tenants, change)
