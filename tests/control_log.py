"""Tenants for tests: written to the control log of a real broker, or known without one."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

from control import Change, ControlFollower, ControlState, ControlWriter, Draft
from control.access_keys import Role, hash_key, new_api_key, new_operator_key
from control.key_changes import add_key as add_key_to
from control.key_changes import add_operator_key
from control.tenant_changes import add_tenant as add_tenant_to
from control.tenants import TenantDirectory
from control.view import FixedControlView
from memory.schema import MemorySchema
from runtime.settings import Settings

_R = TypeVar("_R")
_DEADLINE_S = 60.0


async def write(settings: Settings, change: Change[_R]) -> _R:
    """Makes a change of the control log, whose topic is there."""
    return (await ControlWriter(settings=settings).write(change, action="test", by="a test")).result


@asynccontextmanager
async def following(settings: Settings) -> AsyncIterator[ControlFollower]:
    """A follower of the control log that has read it to its end."""
    follower = ControlFollower(settings=settings)
    follower.start()
    try:
        await follower.wait_for(0, timeout_s=_DEADLINE_S)
        yield follower
    finally:
        await follower.stop()


async def add_tenant(settings: Settings, tenant: str, *, schema: str | MemorySchema, **fields: Any) -> str:
    """Adds a tenant to the control log; gives an API key of it."""
    key = new_api_key()

    def change(draft: Draft) -> None:
        add_tenant_to(draft, tenant, schema=schema, **fields)
        add_key_to(draft, tenant, hash_key(key), now=datetime.now(UTC))

    await write(settings, change)
    return key


async def add_key(settings: Settings, tenant: str, **fields: Any) -> str:
    """Gives a tenant of the control log one more API key."""
    key = new_api_key()
    await write(settings, lambda draft: add_key_to(draft, tenant, hash_key(key), now=datetime.now(UTC), **fields))
    return key


async def add_operator(settings: Settings, *, role: Role = "admin") -> str:
    """Adds an operator's key to the control log."""
    key = new_operator_key()
    await write(settings, lambda draft: add_operator_key(draft, hash_key(key), now=datetime.now(UTC), role=role))
    return key


def apply_change(state: ControlState, change: Change[_R]) -> _R:
    """Makes a change of a state, without a broker."""
    draft = Draft(state)
    result = change(draft)
    state.put(each.after for each in draft.changes())
    return result


def known_tenants(tenants: Mapping[str, str | MemorySchema], **fields: Any) -> TenantDirectory:
    """Tenants with their schemas, each with the same further fields, known without a broker."""
    state = ControlState()
    for tenant, schema in tenants.items():
        apply_change(state, add(tenant, schema, **fields))
    return TenantDirectory(FixedControlView(state))


def add(tenant: str, schema: str | MemorySchema, **fields: Any) -> Callable[[Draft], object]:
    """The change that adds a tenant."""
    return lambda draft: add_tenant_to(draft, tenant, schema=schema, **fields)


def now_known(tenants: TenantDirectory, change: Change[_R]) -> _R:
    """Makes a change of what is known without a broker."""
    return apply_change(tenants._view.state, change)
