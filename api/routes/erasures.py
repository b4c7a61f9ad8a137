"""Erasures over HTTP: operators and tenants start them, and read their receipts."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from api.auth.authentication import EraseCaller, require_operator
from api.dependencies import AppDependencies, Dependencies
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, Responses, answers, refusals
from api.http.request_body import REST, body_schema, json_body
from api.limits.route_admission import TURN
from api.problems import ProblemError
from api.response_models.erasures import ERASING, ERASURES, ErasureView
from api.response_models.messages import USER_ERASURE
from api.writes.control_changes import apply_by, operator_name, tenant_of
from control.access_keys import OperatorKey
from control.document_base import Label
from control.draft import Draft
from control.erasure import Erasure, subject_of
from control.erasure_changes import begin_erasure, require_no_hold
from control.unfinished_erasures import ErasureRequest
from memory.records.message import Name

operators_router = APIRouter(tags=["operators"])
tenants_router = APIRouter(tags=["erasure"])

_PATH: Final = "/v1/admin/erasures"

_Admin = Annotated[OperatorKey, require_operator("admin")]

_RECEIPTS: Final = "/v1/erasures/"
_RECEIPT: Final[Responses] = answers(ErasureView, description="The erasure.")

_User = Annotated[Name, Path(description="The user, percent-encoded.")]
_Reason = Annotated[Label, Query(description="Reason for the audit log, which is kept forever: do not name the user in it.")]


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
        ProblemError: 409 if this process runs no erasures, 404 if there is no such tenant.
        ChangeRefusedError: If the reason or the user's name is invalid.
        LegalHoldError: If a legal hold is in force on the user or the tenant.
        KafkaUnavailableError: If the control log could not be written.
    """
    erasures = dependencies.erasures
    if not erasures.is_equipped:
        raise ProblemError(409, "not-equipped", "this process runs no erasures: start it as `varve serve`, or use `varve erase`")
    known = dependencies.tenants.draft()
    tenant_of(known, tenant)  # a refused request must not store the user's name
    require_no_hold(known, tenant, subject_of(tenant, user))
    noted = ErasureRequest(tenant=tenant, user=user, by=by, asked_at=dependencies.clock.now())

    def change(draft: Draft) -> dict[str, Any]:
        return {"subject": begin_erasure(draft, tenant, user, at=noted.asked_at, reason=reason).subject}

    resumable = await erasures.note(noted)
    begun = await apply_by(dependencies, by, change, action="erasure begin", settle=False)
    erasures.start(noted)
    return {**begun, "resumable": resumable}


async def erasure_fields(dependencies: Dependencies, erasures: Sequence[Erasure]) -> list[dict[str, Any]]:
    """Erasures as plain values, with their receipts and whether a process works on them."""
    running = await dependencies.erasures.running(erasures)
    return [
        {
            **erasure.model_dump(
                mode="json", include={"subject", "tenant", "reason", "requested_at", "finished_at", "gone_by", "found", "remains"}
            ),
            "running": erasure.subject in running,
            "problem": dependencies.erasures.problem_of(erasure.subject) if erasure.finished_at is None else None,
        }
        for erasure in erasures
    ]


class NewErasure(RequestModel):
    """A user to erase."""

    tenant: Name
    user: Name
    reason: Label = ""
    """The reason. It is stored forever, in the control log and the audit, so it must not contain names."""


@operators_router.get(_PATH, dependencies=[require_operator("viewer"), TURN], responses=ERASURES | refusals(404))
async def list_erasures(
    dependencies: AppDependencies,
    tenant: Annotated[str | None, Query(min_length=1, max_length=256, description="Only this tenant. Default: all tenants.")] = None,
) -> Response:
    """Erasures with their receipts, the oldest request first. Users are named by a digest."""
    known = dependencies.tenants.draft()
    if tenant is not None:
        tenant_of(known, tenant)
    return JsonResponse({"erasures": await erasure_fields(dependencies, known.erasures(tenant))})


@operators_router.post(_PATH, status_code=202, openapi_extra=body_schema(NewErasure), responses=ERASING | refusals(404, 409))
async def start_erasure(
    operator: _Admin, body: Annotated[NewErasure, Depends(json_body(NewErasure))], dependencies: AppDependencies
) -> Response:
    """Erases a user everywhere, permanently, after this answer. It takes a minute or two; then the list of erasures has the receipt.

    Users requested during another user's erasure are erased together after it. A request repeated during the erasure runs again
    after it. If this process stops, another continues; where `resumable` is false, none does until the request is repeated.
    """
    begun = await request_erasure(dependencies, body.tenant, body.user, reason=body.reason, by=operator_name(operator))
    return JsonResponse(begun, status_code=202)


@tenants_router.delete(f"/v1/users/{{user:{REST}}}", status_code=202, responses=USER_ERASURE | refusals(409))
async def erase_user(user: _User, caller: EraseCaller, dependencies: AppDependencies, reason: _Reason = "") -> Response:
    """Erases a user of the tenant everywhere, permanently, after this response: `{subject, location, resumable}`.

    It takes one to two minutes. Poll `location` until `finished_at` is set: that is the receipt, written after verification. The key
    needs the scope `erase`, which no key has by default. A key that is bound to a user may erase that user only. The erasure revokes the
    keys of the user at once, so a key of the tenant polls the receipt. A repeated request erases what was sent since. Whether the user
    exists makes no difference to the response. Counts as one message.
    """
    erased = caller.user_of(user) or user
    quota = await dependencies.quotas.admit_messages(caller.tenant, count=1, size=0, adds_memories=False)
    begun = await request_erasure(dependencies, caller.tenant.id, erased, reason=reason, by=f"API key {caller.key.id}")
    location = f"{_RECEIPTS}{begun['subject']}"
    shown = {"subject": begun["subject"], "location": location, "resumable": begun["resumable"]}
    return JsonResponse(shown, status_code=202, headers={**quota, "Location": location})


@tenants_router.get("/v1/erasures", responses=ERASURES)
async def list_own_erasures(request: Request, caller: EraseCaller, dependencies: AppDependencies) -> Response:
    """The erasures of the tenant's users with their receipts, the oldest request first. Users are named by a digest.

    A key that is bound to a user sees that user's erasure only.
    """
    tenant, bound_to = caller.tenant.id, caller.key.user
    erasures = dependencies.tenants.draft().erasures(tenant)
    if bound_to is not None:
        erasures = [each for each in erasures if each.subject == subject_of(tenant, bound_to)]
    async with dependencies.admission.turn(request, caller.tenant):
        return JsonResponse({"erasures": await erasure_fields(dependencies, erasures)})


@tenants_router.get(f"{_RECEIPTS}{{subject}}", responses=_RECEIPT | refusals(404))
async def get_erasure(
    subject: Annotated[str, Path(max_length=64, description="The `subject` of the response to `DELETE /v1/users/{user}`.")],
    request: Request,
    caller: EraseCaller,
    dependencies: AppDependencies,
) -> Response:
    """The erasure of a user of the tenant, and its receipt once `finished_at` is set.

    404 for an erasure of another tenant's user, or of another user than the one that the key is bound to.
    """
    tenant, bound_to = caller.tenant.id, caller.key.user
    erasure = dependencies.tenants.draft().erasure_of(subject)
    if erasure is None or erasure.tenant != tenant or (bound_to is not None and subject != subject_of(tenant, bound_to)):
        raise ProblemError(404, "not-found", f"there is no erasure {subject}")
    async with dependencies.admission.turn(request, caller.tenant):
        (fields,) = await erasure_fields(dependencies, [erasure])
    return JsonResponse(fields)
