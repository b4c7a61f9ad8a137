"""``DELETE /v1/users/{user}`` and ``GET /v1/erasures/{subject}``: a tenant erases one of its users, and polls the receipt."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from api.admin_responses import ErasureView
from api.authentication import EraseCaller
from api.dependencies import AppDependencies
from api.erasure_requests import erasure_fields, request_erasure
from api.json_http import JsonResponse
from api.openapi import Responses, answers, refusals
from api.problems import ProblemError
from api.request_body import REST
from api.responses import USER_ERASURE
from control.document import Label
from control.erasure import subject_of
from memory.records.message import Name

router = APIRouter(tags=["erasure"])

_RECEIPTS: Final = "/v1/erasures/"
_RECEIPT: Final[Responses] = answers(ErasureView, description="The erasure.")

_User = Annotated[Name, Path(description="The user, percent-encoded.")]
_Reason = Annotated[Label, Query(description="Reason for the audit log, which is kept forever: do not name the user in it.")]


@router.delete(f"/v1/users/{{user:{REST}}}", status_code=202, responses=USER_ERASURE | refusals(409))
async def erase_user(user: _User, request: Request, caller: EraseCaller, dependencies: AppDependencies, reason: _Reason = "") -> Response:
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
    response = JsonResponse({"subject": begun["subject"], "location": location, "resumable": begun["resumable"]}, status_code=202)
    response.headers.update({**quota, "Location": location})
    return response


@router.get(f"{_RECEIPTS}{{subject}}", responses=_RECEIPT | refusals(404))
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
