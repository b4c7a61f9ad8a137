"""``/v1/admin/control``, ``apply``, ``export``, ``audit`` and ``reads``: the control log as a whole, and the read audit."""

from contextlib import suppress
from itertools import islice
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.auth.authentication import require_operator
from api.dependencies import AppDependencies
from api.http.json_http import JsonResponse
from api.http.openapi import refusals
from api.http.request_body import body_schema, json_body
from api.limits.admission import TOPIC_RESULTS
from api.limits.route_admission import TOPICS_TURN
from api.response_models.admin import APPLIED, EXPORTED, PLACE
from api.response_models.audit import AUDIT, READS, VERDICT
from api.writes.control_changes import Settle, TenantQuery, tenant_of, write
from control import Draft, read_audit, read_control
from control.access_keys import OperatorKey
from control.differences import difference_lines
from control.errors import ControlLogBehindError
from control.tenants_file import TenantsFile, apply_file, export_file
from memory.records.limits import RequestTime
from memory.records.message import Name
from runtime.read_log import reads_of

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin"
_MOST_LINES: Final = 1000
_MAX_LIMIT: Final = 1000
_LONGEST_WAIT_S: Final = 30.0

_Admin = Annotated[OperatorKey, require_operator("admin")]
_File = Annotated[TenantsFile, Depends(json_body(TenantsFile, max_bytes=None))]


@router.get(_PATH + "/control", dependencies=[require_operator("viewer")], responses=PLACE)
async def get_control_position(
    dependencies: AppDependencies,
    position: Annotated[int, Query(ge=0, le=2**63 - 1, description="The position that this process must reach before it responds.")] = 0,
    wait_s: Annotated[
        float, Query(ge=0, le=_LONGEST_WAIT_S, description="Longest wait for the position; `reached` shows the result.")
    ] = 10.0,
) -> Response:
    """This process's position in the control log, after a wait for the position that a change returned.

    Once a change is older than ``lease_s``, every process either applies it or rejects all requests.
    """
    tenants = dependencies.tenants
    with suppress(ControlLogBehindError):
        await tenants.wait_for(position, timeout_s=wait_s)
    tenants.require_current()
    lease_s = dependencies.settings.control.lease_s
    return JsonResponse({"position": tenants.position, "reached": tenants.position >= position, "age_s": tenants.age_s, "lease_s": lease_s})


@router.post(_PATH + "/apply", openapi_extra=body_schema(TenantsFile), responses=APPLIED | refusals(404, 409, 412))
async def apply_tenants_file(
    request: Request,
    operator: _Admin,
    file: _File,
    dependencies: AppDependencies,
    dry_run: Annotated[bool, Query(description="Show the difference, and change nothing.")] = False,
    prune: Annotated[bool, Query(description="Remove tenants that the body does not list. Default: keep them.")] = False,
    force: Annotated[bool, Query(description="Overwrite changes that were made after the revisions that the body names.")] = False,
    settle: Settle = None,
) -> Response:
    """Apply a body of tenants, keys and operators, as ``export`` returns it, all at once or not at all.

    Tenants that the body does not list stay, except with ``prune``. The body names its schemas; it cannot refer to schema files.
    If it would change a tenant or the operators at another revision than it names, the response is 412; without ``revision``, it
    overwrites any.
    """
    now = dependencies.clock.now()

    def change(draft: Draft) -> dict[str, Any]:
        apply_file(draft, file, folder=None, now=now, prune=prune, force=force)
        documents = draft.changes()
        return {"documents": len(documents), "differences": [*islice(difference_lines(documents), _MOST_LINES)]}

    if dry_run:
        async with dependencies.admission.admin_admission(request, results=TOPIC_RESULTS):
            state = await read_control(dependencies.settings)
            place = {"position": state.position, "changed": False, "settled": False}
            return JsonResponse({**change(Draft(state)), **place})
    return await write(dependencies, operator, change, action="apply", settle=settle is None or settle)


@router.get(_PATH + "/export", dependencies=[require_operator("viewer"), TOPICS_TURN], responses=EXPORTED)
async def export_tenants_file(
    dependencies: AppDependencies,
    schemas: Annotated[bool, Query(description="Include all schemas, which a new installation needs.")] = False,
) -> Response:
    """All tenants and operators as a body for ``apply``."""
    return JsonResponse(export_file(await read_control(dependencies.settings), with_schemas=schemas))


@router.get(_PATH + "/audit", dependencies=[require_operator("viewer"), TOPICS_TURN], responses=AUDIT)
async def list_audit_records(
    dependencies: AppDependencies,
    subject: Annotated[str | None, Query(max_length=1000, description="Only changes of this key, such as `tenant/acme`.")] = None,
    after: Annotated[int, Query(ge=0, le=2**31, description="Number of records to skip.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_MAX_LIMIT)] = 100,
) -> Response:
    """The audit records, oldest first, each with the values before and after, and their total number."""
    _, records = await read_audit(dependencies.settings)
    selected = [each for each in records if subject is None or each.subject == subject]
    page = [each.model_dump(mode="json") for each in selected[after : after + limit]]
    return JsonResponse({"records": page, "total": len(selected)})


@router.get(_PATH + "/reads", dependencies=[require_operator("viewer"), TOPICS_TURN], responses=READS | refusals(404))
async def list_reads(
    dependencies: AppDependencies,
    tenant: TenantQuery,
    user: Annotated[Name, Query(description="The user whose memories were read.")],
    since: Annotated[RequestTime | None, Query(description="Only reads at this time or later.")] = None,
    limit: Annotated[int, Query(ge=1, le=_MAX_LIMIT)] = 100,
) -> Response:
    """The recorded reads of a user's memories, newest first: key, request, memory ids and time.

    `VARVE_READ_AUDIT__RATE` sets the share of requests that are recorded.
    """
    tenant_of(dependencies.tenants.draft(), tenant)
    found = await reads_of(dependencies.settings, tenant, user, since=since, most=limit)
    names = {"time", "key_id", "what", "memory_ids", "left_out"}
    return JsonResponse({"reads": [each.model_dump(mode="json", include=names) for each in found]})


@router.get(_PATH + "/audit/verify", dependencies=[require_operator("viewer"), TOPICS_TURN], responses=VERDICT)
async def verify_audit(
    dependencies: AppDependencies,
    expect: Annotated[
        str | None, Query(max_length=64, description="The digest of an earlier check. The log must still contain it.")
    ] = None,
) -> Response:
    """Checks that no record was removed, inserted or changed; returns the digest of all records."""
    check, records = await read_audit(dependencies.settings)
    problems = check.problems_with(expect)
    found = {"changes": check.changes, "records": len(records), "digest": check.digest}
    return JsonResponse({**found, "problems": problems[:_MOST_LINES]})
