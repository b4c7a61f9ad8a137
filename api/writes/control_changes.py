"""Changes of the control log over HTTP, in an operator's name. The response contains their position in the log."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from api.dependencies import Dependencies
from api.http.json_http import JsonResponse
from api.problems import ProblemError
from control.access_keys import OperatorKey
from control.documents import Tenant
from control.draft import Change, Draft
from control.errors import UnknownTenantError
from control.tenants_file import exported_tenant
from runtime.settings import Settings

OverlapSeconds = Annotated[float, Field(ge=0, le=366 * 86_400.0)]
"""How long a rotated key or secret stays valid."""
TenantQuery = Annotated[str, Query(min_length=1, max_length=256, description="A tenant's id.")]
Settle = Annotated[
    bool | None,
    Query(
        description="Whether to respond only when every process applies the change, even one without a connection to Kafka; this takes up "
        "to a lease. Default: only for changes that revoke something."
    ),
]


async def write(
    dependencies: Dependencies, operator: OperatorKey, change: Change[dict[str, Any]], *, action: str, settle: bool
) -> JsonResponse:
    """The response of :func:`apply_by_operator`.

    Args:
        dependencies: The writer of the log.
        operator: The author of the change.
        change: The change. It returns further members of the response.
        action: Name of the change in the audit.
        settle: Whether to wait until every process applies it, even one without a connection to Kafka.
    """
    return JsonResponse(await apply_by_operator(dependencies, operator, change, action=action, settle=settle))


async def revoke(
    dependencies: Dependencies, operator: OperatorKey, change: Callable[[Draft], object], *, action: str, settle: bool | None
) -> JsonResponse:
    """The response of a change that takes something away. By default, it comes when every process applies the change.

    Args:
        dependencies: The writer of the log.
        operator: The author of the change.
        change: The change.
        action: Name of the change in the audit.
        settle: Whether to wait until every process applies it, even one without a connection to Kafka. None: yes.
    """

    def changed(draft: Draft) -> dict[str, Any]:
        change(draft)
        return {}

    return await write(dependencies, operator, changed, action=action, settle=settle is None or settle)


async def apply_by_operator(
    dependencies: Dependencies, operator: OperatorKey, change: Change[dict[str, Any]], *, action: str, settle: bool
) -> dict[str, Any]:
    """Makes a change, and returns when this process knows it, so that its next answer includes the change.

    Args:
        dependencies: The writer of the log.
        operator: The author of the change.
        change: The change. It returns further members of the response.
        action: Name of the change in the audit.
        settle: Whether to wait until every process applies it, even one without a connection to Kafka.

    Raises:
        ProblemError: 404 if its tenant does not exist.
        ChangeRefusedError: If the change contradicts the current state.
        KafkaUnavailableError: If it could not be written, or the result of the write is unknown.
    """
    return await apply_by(dependencies, operator_name(operator), change, action=action, settle=settle)


def operator_name(operator: OperatorKey) -> str:
    """An operator, as the audit log names it."""
    return f"operator {operator.id} {operator.label}".strip()


async def apply_by(dependencies: Dependencies, by: str, change: Change[dict[str, Any]], *, action: str, settle: bool) -> dict[str, Any]:
    """Like :func:`apply_by_operator`, for any actor; ``by`` names it in the audit log."""
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
    """The tenant that an operator's request names.

    Raises:
        ProblemError: 404 if it does not exist.
    """
    try:
        return known.tenant(tenant_id)
    except UnknownTenantError as error:
        raise ProblemError(404, "not-found", str(error)) from error


def tenant_fields(known: Draft, tenant: Tenant, settings: Settings) -> dict[str, Any]:
    """A tenant as operators see it: the form of a tenants' file, with the number of its keys, its live memory method and its limits."""
    limits = {
        "budget": settings.budget.overridden_by(tenant.budget).model_dump(mode="json"),
        "quota": settings.quota.overridden_by(tenant.quota).model_dump(mode="json"),
    }
    return {
        **exported_tenant(tenant),
        "keys": len(tenant.keys),
        "method": known.method_of(tenant.live_schema),
        "in_force": limits,
    }
