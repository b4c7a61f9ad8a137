"""Erasures that are requested over HTTP, by an operator or by a tenant: starts them, and shows their receipts."""

from collections.abc import Sequence
from typing import Any

from api.control_changes import changed_by, tenant_of
from api.dependencies import Dependencies
from api.problems import ProblemError
from control.draft import Draft
from control.erasure import Erasure
from control.erasure_changes import begin_erasure
from control.unfinished_erasures import ErasureRequest


async def request_erasure(dependencies: Dependencies, tenant: str, user: str, *, reason: str, by: str) -> dict[str, Any]:
    """Starts the erasure of a user.

    Args:
        dependencies: The control log and the erasures of this process.
        tenant: The user's tenant.
        user: The user.
        reason: Reason for the audit log, which is kept forever.
        by: The actor, for the audit log. It must not contain the user's name.

    Returns:
        The user's digest (``subject``), whether another process can resume the erasure (``resumable``), and the change of the control log.

    Raises:
        ProblemError: 409 if this process carries out no erasures, 404 if there is no such tenant.
        ChangeRefusedError: If the reason or the user's name is invalid.
        KafkaUnavailableError: If the control log could not be written.
    """
    erasures = dependencies.erasures
    if not erasures.is_equipped:
        raise ProblemError(409, "not-equipped", "this process carries out no erasures: start it as `varve serve`, or use `varve erase`")
    tenant_of(dependencies.tenants.draft(), tenant)  # a refused request must not store the user's name
    noted = ErasureRequest(tenant=tenant, user=user, by=by, asked_at=dependencies.clock.now())

    def change(draft: Draft) -> dict[str, Any]:
        return {"subject": begin_erasure(draft, tenant, user, at=noted.asked_at, reason=reason).subject}

    resumable = await erasures.note(noted)
    begun = await changed_by(dependencies, by, change, action="erasure begin", settle=False)
    erasures.start(noted)
    return {**begun, "resumable": resumable}


async def erasure_fields(dependencies: Dependencies, erasures: Sequence[Erasure]) -> list[dict[str, Any]]:
    """Erasures as plain values, with their receipts and whether a process works on them.

    Args:
        dependencies: The erasures of this process, and Redis with those of the others.
        erasures: The erasures, from the control log.
    """
    running = await dependencies.erasures.running(erasures)
    return [
        {
            **each.model_dump(mode="json", include={"subject", "reason", "requested_at", "finished_at", "gone_by", "found", "remains"}),
            "running": each.subject in running,
            "problem": dependencies.erasures.problem_of(each.subject) if each.finished_at is None else None,
        }
        for each in erasures
    ]
