"""Changes of the control log over HTTP: carried out in an operator's name, and answered with their place in the log."""

from typing import Annotated, Any

from fastapi import Query

from api.dependencies import Dependencies
from api.json_http import JsonResponse
from api.problems import ProblemError
from control.documents import OperatorKey, Tenant
from control.draft import Change, Draft
from control.errors import UnknownTenantError
from control.tenants_file import exported_tenant

TenantQuery = Annotated[str, Query(min_length=1, max_length=256, description="A tenant's id.")]
Settle = Annotated[
    bool | None,
    Query(
        description="Whether to answer only when the change holds even in a process that has lost Kafka, a lease later. Where not given: "
        "for what takes something away."
    ),
]


async def write(
    dependencies: Dependencies, operator: OperatorKey, change: Change[dict[str, Any]], *, action: str, settle: bool
) -> JsonResponse:
    """The answer to :func:`carried_out`.

    Args:
        dependencies: Have the writer.
        operator: Who asks for it.
        change: What is to be changed; gives further members of the answer.
        action: What that is, for the audit.
        settle: Whether to wait until it holds even in a process that has lost Kafka.
    """
    return JsonResponse(await carried_out(dependencies, operator, change, action=action, settle=settle))


async def carried_out(
    dependencies: Dependencies, operator: OperatorKey, change: Change[dict[str, Any]], *, action: str, settle: bool
) -> dict[str, Any]:
    """Makes a change, and returns when this process knows it, so that its next answer includes the change.

    Args:
        dependencies: Have the writer.
        operator: Who asks for it.
        change: What is to be changed; gives further members of the answer.
        action: What that is, for the audit.
        settle: Whether to wait until it holds even in a process that has lost Kafka.

    Raises:
        ProblemError: 404 if it is to a tenant that there is not.
        ChangeRefusedError: If it does not fit what there is.
        KafkaUnavailableError: If it could not be written, or nobody knows whether it was.
    """
    return await changed_by(dependencies, operator_name(operator), change, action=action, settle=settle)


def operator_name(operator: OperatorKey) -> str:
    """An operator, as the audit log names it."""
    return f"operator {operator.id} {operator.label}".strip()


async def changed_by(dependencies: Dependencies, by: str, change: Change[dict[str, Any]], *, action: str, settle: bool) -> dict[str, Any]:
    """Like :func:`carried_out`, for any actor; ``by`` names it in the audit log."""
    try:
        written = await dependencies.control.write(change, action=action, by=by)
    except UnknownTenantError as error:
        raise ProblemError(404, "not-found", str(error)) from error
    has_changed = bool(written.documents)
    if has_changed and settle:
        await dependencies.control.settle()
    await dependencies.tenants.wait_for(written.position, timeout_s=dependencies.settings.control.write_timeout_s)
    place = {"position": written.position, "changed": has_changed, "settled": has_changed and settle}
    return {**written.result, **place}


def tenant_of(known: Draft, tenant_id: str) -> Tenant:
    """A tenant that an operator asks for.

    Args:
        known: What this process knows.
        tenant_id: The id.

    Raises:
        ProblemError: 404 if there is none.
    """
    try:
        return known.tenant(tenant_id)
    except UnknownTenantError as error:
        raise ProblemError(404, "not-found", str(error)) from error


def tenant_fields(tenant: Tenant) -> dict[str, Any]:
    """A tenant as operators are shown it: as a file of tenants has it, but of its keys the number alone."""
    return {**exported_tenant(tenant), "keys": len(tenant.keys)}
