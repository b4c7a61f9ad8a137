"""Changes to tenants and their generations. Pure: each function reads and writes a draft."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from control.documents import Drops, Generation, Tenant
from control.draft import Draft, changed, new
from control.erasure_changes import require_none_unfinished
from control.errors import ChangedMeanwhileError, ChangeRefusedError
from control.message_signing import SigningPolicy
from control.schemas import resolve_method_schema
from memory.schema import MemorySchema
from memory.schema.methods import MethodDocument
from memory.texts.text import problem_of_name
from memory.validation_problems import problems_of


def add_tenant(
    draft: Draft, tenant_id: str, *, schema: str | MemorySchema, method: str | MethodDocument | None = None, **fields: Any
) -> Tenant:
    """Adds a tenant. A removed tenant returns without its keys and generations; its drops stay counted, and its levels of trust in force.

    Args:
        draft: The change.
        tenant_id: 1 to 256 characters that cannot be mistaken for another id: see :func:`memory.texts.text.problem_of_name`.
        schema: The schema, see :func:`control.schemas.resolve_schema`.
        method: Its memory method, see :func:`control.schemas.resolve_method_schema`. Default: the schema as it is.
        fields: Further fields of :class:`~control.documents.Tenant`.

    Raises:
        ChangeRefusedError: If the tenant exists already, or a field is invalid.
    """
    before = draft.find_tenant(tenant_id)
    problem = problem_of_name(tenant_id) if before is None else None
    if problem is not None:
        raise ChangeRefusedError(f"the tenant id {tenant_id!a} {problem}; choose another one")
    if before is not None and before.state != "removed":
        raise ChangeRefusedError(f"there is a tenant {tenant_id!r} already, with schema {before.live_schema}")
    kept = {} if before is None else {"drops": before.drops, "trust": before.trust}
    tenant = new(Tenant, **{"id": tenant_id, "schema_ref": resolve_method_schema(draft, schema, method), **kept, **fields})
    draft.put(tenant)
    return tenant


def set_tenant(
    draft: Draft,
    tenant_id: str,
    *,
    schema: str | MemorySchema | None = None,
    method: str | MethodDocument | None = None,
    expected: Collection[int] | None = None,
    **fields: Any,
) -> Tenant:
    """Sets fields of a tenant.

    Args:
        draft: The change.
        tenant_id: A tenant.
        schema: The schema of its live generation, see :func:`control.schemas.resolve_schema`. Default: unchanged.
        method: Its memory method, see :func:`control.schemas.resolve_method_schema`. Default: unchanged, unless a schema is given.
        expected: The revisions of the tenant for which the change was made. Default: any.
        fields: Further fields of :class:`~control.documents.Tenant`.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangedMeanwhileError: If the tenant has another revision.
        ChangeRefusedError: If a field is invalid.
    """
    tenant = draft.tenant(tenant_id)
    if expected is not None and tenant.revision not in expected:
        wanted = " or ".join(map(str, sorted(expected))) or "none"
        raise ChangedMeanwhileError(
            f"tenant {tenant_id!r} was changed meanwhile: its revision is {tenant.revision}, and the change is for {wanted}; "
            "read the tenant again, and repeat the change if it still fits"
        )
    if schema is not None or method is not None:
        named = str(tenant.live_schema) if schema is None else schema
        tenant = tenant.under(resolve_method_schema(draft, named, method))
    after = changed(tenant, **fields)
    draft.put(after)
    return after


def remove_tenant(draft: Draft, tenant_id: str) -> None:
    """Removes a tenant: its keys become invalid, and its records count as an unknown tenant's. Its memories are not deleted.

    Raises:
        UnknownTenantError: If there is no such tenant.
    """
    draft.put(changed(draft.tenant(tenant_id), state="removed", keys=(), generation="", generations=()))


def change_signing(
    draft: Draft, tenant_id: str, *, now: datetime, required: bool | None = None, retire: str | None = None, add: str | None = None
) -> SigningPolicy:
    """Changes a tenant's requirements for signatures of messages.

    Args:
        draft: The change.
        tenant_id: A tenant.
        now: The current time (aware).
        required: Whether messages produced from now on have to be signed. Default: unchanged.
        retire: The id of a key that is no longer accepted for messages from now on.
        add: The id of an additional key; a retired key becomes valid again.

    Returns:
        The new policy.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the policy is invalid; contains the reason.
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


def require_switchable(draft: Draft, tenant_id: str, generation: str) -> Tenant:
    """Checks that a generation of a tenant may become the live one; the live one may.

    Args:
        draft: Knows the tenants; it is not changed.
        tenant_id: A tenant.
        generation: The generation; empty for the first one.

    Returns:
        The tenant.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the tenant has no such generation, or its re-extraction is being cancelled.
        ErasureUnderWayError: If the tenant has an unfinished erasure.
    """
    tenant = draft.tenant(tenant_id)
    if not tenant.has_generation(generation):
        raise _unknown_generation(tenant_id, generation)
    if tenant.generation != generation:
        require_none_unfinished(draft.erasures(tenant_id), f"the switch of tenant {tenant_id}")
        run = draft.reextraction(generation)
        if run is not None and run.state == "cancelling" and tenant_id in run.tenants:
            raise ChangeRefusedError(f"the re-extraction into generation {generation} is being cancelled, which removes its memories")
    return tenant


def set_generation(draft: Draft, tenant_id: str, generation: str) -> None:
    """Makes a generation of a tenant's memories the live one.

    Args:
        draft: The change.
        tenant_id: A tenant.
        generation: The generation; empty for the first one.

    Raises:
        VarveError: As :func:`require_switchable`.
    """
    tenant = require_switchable(draft, tenant_id, generation)
    draft.put(changed(tenant, generation=generation))
    run = draft.reextraction(generation)
    if run is not None and run.is_unfinished and tenant_id in run.tenants and tenant_id not in run.switched:
        draft.put(changed(run, switched=(*run.switched, tenant_id)))


def add_generation(
    draft: Draft,
    tenant_id: str,
    generation: str,
    *,
    schema: str | MemorySchema | None = None,
    method: str | MethodDocument | None = None,
) -> None:
    """Adds a generation to a tenant, without switching to it.

    Args:
        draft: The change.
        tenant_id: A tenant.
        generation: Its name, which is new to the tenant.
        schema: The schema, see :func:`control.schemas.resolve_schema`. Default: the schema of the tenant's live generation.
        method: Its memory method, see :func:`control.schemas.resolve_method_schema`. Default: that of the schema.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the tenant has the generation already, its name is invalid, or there is no such schema.
    """
    tenant = draft.tenant(tenant_id)
    if tenant.has_generation(generation):
        raise ChangeRefusedError(f"tenant {tenant_id!r} has a generation {generation!r} already; choose another name")
    ref = resolve_method_schema(draft, str(tenant.live_schema) if schema is None else schema, method)
    draft.put(changed(tenant, generations=(*tenant.generations, new(Generation, name=generation, schema_ref=ref))))


def count_drop(draft: Draft, tenant_id: str, generation: str) -> int:
    """Counts a drop of a tenant's generation.

    Args:
        draft: The change.
        tenant_id: A tenant.
        generation: The generation; empty for the first one.

    Returns:
        The number of drops of the generation, including this one.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the tenant has no such generation, it is live, or a re-extraction builds it.
        ErasureUnderWayError: If the tenant has an unfinished erasure.
    """
    tenant, run = draft.tenant(tenant_id), draft.reextraction(generation)
    is_built = run is not None and tenant_id in run.tenants
    # A tenant that was removed and added again lacks the generation, and the end of its re-extraction must still drop it.
    if not is_built and not tenant.has_generation(generation):
        raise _unknown_generation(tenant_id, generation)
    require_none_unfinished(draft.erasures(tenant_id), f"the drop of a generation of tenant {tenant_id}")
    if tenant.generation == generation:
        raise ChangeRefusedError(f"generation {generation or '-'} of tenant {tenant_id} is live: switch to another one first")
    if run is not None and is_built and run.state in ("running", "paused"):
        raise ChangeRefusedError(
            f"a re-extraction into generation {generation} is {run.state}: `varve generations cancel {generation}` stops it, and removes "
            "what it has produced"
        )
    dropped = Drops(generation=generation, count=tenant.drops_of(generation) + 1)
    draft.put(changed(tenant, drops=(*(each for each in tenant.drops if each.generation != generation), dropped)))
    return dropped.count


def _unknown_generation(tenant_id: str, generation: str) -> ChangeRefusedError:
    return ChangeRefusedError(f"tenant {tenant_id} has no generation {generation}: `varve generations list {tenant_id}` shows them")
