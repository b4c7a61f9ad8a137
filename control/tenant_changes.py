"""The changes to tenants and their generations. Pure: each reads a draft, and puts what becomes of it."""

from datetime import datetime
from typing import Any

from pydantic import ValidationError

from control.documents import Drops, Generation, Tenant
from control.draft import Draft, changed, new
from control.erasure_changes import require_none_under_way
from control.errors import ChangeRefusedError
from control.message_signing import SigningPolicy
from control.schemas import schema_in_force
from memory.records.base import problems_of
from memory.schema import MemorySchema
from memory.text import problem_of_name


def add_tenant(draft: Draft, tenant_id: str, *, schema: str | MemorySchema, **fields: Any) -> Tenant:
    """Adds a tenant; one that was removed comes back without its keys and generations, and with its drops still counted.

    Args:
        draft: The change.
        tenant_id: 1 to 256 characters, that nobody can mistake for another id: see :func:`memory.text.problem_of_name`.
        schema: As :func:`control.schemas.schema_in_force` takes it.
        fields: Further fields of :class:`~control.documents.Tenant`.

    Raises:
        ChangeRefusedError: If it is there already, or a field does not fit.
    """
    before = draft.find_tenant(tenant_id)
    problem = problem_of_name(tenant_id) if before is None else None
    if problem is not None:
        raise ChangeRefusedError(f"the tenant id {tenant_id!a} {problem}; take another one")
    if before is not None and before.state != "removed":
        raise ChangeRefusedError(f"there is a tenant {tenant_id!r} already, with schema {before.live_schema}")
    drops = () if before is None else before.drops
    tenant = new(Tenant, **{"id": tenant_id, "schema_ref": schema_in_force(draft, schema), "drops": drops, **fields})
    draft.put(tenant)
    return tenant


def set_tenant(draft: Draft, tenant_id: str, *, schema: str | MemorySchema | None = None, **fields: Any) -> Tenant:
    """Sets fields of a tenant.

    Args:
        draft: The change.
        tenant_id: A tenant.
        schema: The schema of its live generation, as :func:`control.schemas.schema_in_force` takes it; None: as it is.
        fields: Further fields of :class:`~control.documents.Tenant`.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If a field does not fit.
    """
    tenant = draft.tenant(tenant_id)
    if schema is not None:
        tenant = tenant.under(schema_in_force(draft, schema))
    after = changed(tenant, **fields)
    draft.put(after)
    return after


def remove_tenant(draft: Draft, tenant_id: str) -> None:
    """Removes a tenant: its keys open nothing, and its records are those of an unknown tenant. Its memories stay where they are.

    Raises:
        UnknownTenantError: If there is no such tenant.
    """
    draft.put(changed(draft.tenant(tenant_id), state="removed", keys=(), generation="", generations=()))


def change_signing(
    draft: Draft, tenant_id: str, *, now: datetime, required: bool | None = None, retire: str | None = None, add: str | None = None
) -> SigningPolicy:
    """Changes what a tenant demands of messages that are produced in its name.

    Args:
        draft: The change.
        tenant_id: A tenant.
        now: The time, aware.
        required: Whether messages produced from now on have to be signed; None: as it is.
        retire: The id of a key that messages from now on may not be signed by.
        add: The id of one more key; one that was retired holds again.

    Returns:
        The new policy.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the policy does not fit; says why.
    """
    tenant = draft.tenant(tenant_id)
    try:
        policy = tenant.signing if retire is None else tenant.signing.without_key(retire, now)
        if add is not None:
            policy = policy.with_key(add)
        if required is not None and required != policy.is_required(int(now.timestamp() * 1000)):
            policy = policy.required_from(now if required else None)
    except ValidationError as error:
        raise ChangeRefusedError(problems_of(error)) from error
    except ValueError as error:
        raise ChangeRefusedError(str(error)) from error
    draft.put(changed(tenant, signing=policy))
    return policy


def set_generation(draft: Draft, tenant_id: str, generation: str) -> str:
    """Makes a generation of a tenant's memories the live one.

    Args:
        draft: The change.
        tenant_id: A tenant.
        generation: Empty for the first one.

    Returns:
        The generation that was live before.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If it has no such generation.
        ErasureUnderWayError: If an erasure of one of the tenant's users is under way.
    """
    tenant = draft.tenant(tenant_id)
    if tenant.generation != generation:
        require_none_under_way(draft.erasures(tenant_id), f"the switch of tenant {tenant_id}")
    draft.put(changed(tenant, generation=generation))
    return tenant.generation


def add_generation(draft: Draft, tenant_id: str, generation: str, *, schema: str | MemorySchema | None = None) -> None:
    """Adds a generation to a tenant, not live yet.

    Args:
        draft: The change.
        tenant_id: A tenant.
        generation: Its name, which is new to the tenant.
        schema: As :func:`control.schemas.schema_in_force` takes it; None: the schema of the tenant's live generation.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the tenant has the generation, or its name is not allowed, or there is no such schema.
    """
    tenant = draft.tenant(tenant_id)
    if tenant.has_generation(generation):
        raise ChangeRefusedError(f"tenant {tenant_id!r} has a generation {generation!r} already; choose another name")
    ref = tenant.live_schema if schema is None else schema_in_force(draft, schema)
    draft.put(changed(tenant, generations=(*tenant.generations, new(Generation, name=generation, schema_ref=ref))))


def count_drop(draft: Draft, tenant_id: str, generation: str) -> int:
    """Counts that a generation of a tenant is dropped.

    Args:
        draft: The change.
        tenant_id: A tenant.
        generation: Empty for the first one.

    Returns:
        How often it has been dropped, this time included.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If it is the live one, be it since a moment ago.
        ErasureUnderWayError: If an erasure of one of the tenant's users is under way.
    """
    tenant = draft.tenant(tenant_id)
    require_none_under_way(draft.erasures(tenant_id), f"the drop of a generation of tenant {tenant_id}")
    if tenant.generation == generation:
        raise ChangeRefusedError(f"generation {generation or '-'} of tenant {tenant_id} is live: switch to another one first")
    dropped = Drops(generation=generation, count=tenant.drops_of(generation) + 1)
    draft.put(changed(tenant, drops=(*(each for each in tenant.drops if each.generation != generation), dropped)))
    return dropped.count
