"""``/v1/dead-letters``, ``/v1/schemas`` and ``/v1/keys``: what a tenant may operate itself, for keys with the scope ``operate``.

Its own records that could not be processed, the schemas that it may use (its own and those of all tenants), and its keys.
"""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from api.auth.authentication import OperateCaller
from api.auth.caller import Caller
from api.dependencies import AppDependencies
from api.http.entity_tags import tag_of
from api.http.json_http import JsonResponse
from api.http.openapi import refusals
from api.http.request_body import REST, body_schema, json_body
from api.limits.admission import TOPIC_RESULTS
from api.problems import ProblemError
from api.response_models.console import OWN_KEYS
from api.response_models.messages import DEAD_LETTER_CONTENT, DEAD_LETTER_LIST, PURGED, REDRIVEN
from api.response_models.schemas import OWN_SCHEMAS, SCHEMA
from api.routes import dead_letters as letters
from api.routes.admin_keys import key_fields
from api.routes.dead_letters import MAX_LIMIT, DeadLetterCommand, DeadLetterFilter, Offset, Partition
from api.writes.idempotency import OperateIdempotency
from control.errors import ChangeRefusedError
from control.key_usage import owner_of
from control.schemas import resolve_schema

router = APIRouter(tags=["operate"])

_DEAD_LETTERS: Final = "/v1/dead-letters"


class _Query(DeadLetterFilter):
    limit: int = Field(default=100, ge=1, le=MAX_LIMIT)


def _of_every_user(caller: OperateCaller) -> Caller:
    # A letter is raw bytes: its user cannot be determined.
    caller.require_every_user()
    return caller


_Caller = Annotated[Caller, Depends(_of_every_user)]
_Command = Annotated[DeadLetterCommand, Depends(json_body(DeadLetterCommand))]
_COMMAND: Final = body_schema(DeadLetterCommand)


@router.get(_DEAD_LETTERS, responses=DEAD_LETTER_LIST)
async def list_own_dead_letters(
    request: Request, caller: _Caller, dependencies: AppDependencies, query: Annotated[_Query, Query()]
) -> Response:
    """The tenant's selected dead letters, oldest first, without their content: ``{dead_letters, total}``."""
    selection = query.selection(dependencies, tenant=caller.tenant.id)
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        return await letters.listed(dependencies, selection, limit=query.limit)


@router.get(_DEAD_LETTERS + "/{partition}/{offset}", responses=DEAD_LETTER_CONTENT | refusals(404))
async def get_own_dead_letter(
    partition: Partition, offset: Offset, request: Request, caller: _Caller, dependencies: AppDependencies
) -> Response:
    """One of the tenant's dead letters with its content and headers; 404 if it does not exist, was purged, or is of another tenant."""
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        return await letters.shown(dependencies, partition, offset, tenant=caller.tenant.id)


@router.post(_DEAD_LETTERS + "/redrive", openapi_extra=_COMMAND, responses=REDRIVEN | refusals(409))
async def redrive_own_dead_letters(
    request: Request, caller: _Caller, command: _Command, dependencies: AppDependencies, idempotency: OperateIdempotency
) -> Response:
    """Sends the tenant's dead letters to their stages again, idempotently: ``{redriven, superseded, refused}``."""
    command.require_meant()
    selection = command.selection(dependencies, tenant=caller.tenant.id)
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        return await idempotency.once(lambda: letters.redriven(dependencies, selection))


@router.post(_DEAD_LETTERS + "/purge", openapi_extra=_COMMAND, responses=PURGED | refusals(409))
async def purge_own_dead_letters(
    request: Request, caller: _Caller, command: _Command, dependencies: AppDependencies, idempotency: OperateIdempotency
) -> Response:
    """Deletes dead letters of the tenant permanently: ``{purged}``."""
    command.require_meant()
    selection = command.selection(dependencies, tenant=caller.tenant.id)
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        return await idempotency.once(lambda: letters.purged(dependencies, selection))


_SCHEMAS: Final = "/v1/schemas"
_MAX_SCHEMAS: Final = 1000


@router.get(_SCHEMAS, responses=OWN_SCHEMAS)
async def list_own_schemas(
    caller: OperateCaller,
    dependencies: AppDependencies,
    after: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=_MAX_SCHEMAS)] = 100,
) -> Response:
    """The revisions that the tenant may use, by name, starting at an offset; no other tenant sees those with ``own``."""
    known = dependencies.tenants.draft()
    documents = [each for ref in known.schemas_in_use() if (each := known.schema(ref)) and each.is_open_to(caller.tenant.id)]
    documents.sort(key=lambda each: (each.name, each.number))
    in_force = caller.tenant.schema_of(caller.tenant.generation)
    page = [
        {"schema": str(document.ref), "own": document.owner is not None, "in_force": document.ref == in_force}
        for document in documents[after : after + limit]
    ]
    return JsonResponse({"schemas": page, "next": after + len(page) if after + limit < len(documents) else None})


@router.get(f"{_SCHEMAS}/{{schema:{REST}}}", responses=SCHEMA | refusals(404))
async def get_own_schema(
    schema: Annotated[str, Path(min_length=1, max_length=300)], caller: OperateCaller, dependencies: AppDependencies
) -> Response:
    """A schema by ``NAME`` or ``NAME@REVISION``; 404 for one that is unknown, or another tenant's own."""
    known = dependencies.tenants.draft()
    try:
        document = known.schema(resolve_schema(known, schema))
    except ChangeRefusedError:
        document = None
    if document is None or not document.is_open_to(caller.tenant.id):
        raise ProblemError(404, "not-found", f"there is no schema {schema}")
    return JsonResponse({"schema": str(document.ref), "content": document.content}, headers={"ETag": tag_of(document.ref.revision)})


@router.get("/v1/keys", responses=OWN_KEYS)
async def list_own_keys(caller: _Caller, dependencies: AppDependencies) -> Response:
    """The tenant's API keys without the secrets, when each was last used, and the tenant's quota. An operator changes them."""
    tenant = caller.tenant
    quota = dependencies.settings.quota.overridden_by(tenant.quota).model_dump(mode="json")
    return JsonResponse({**await key_fields(dependencies, tenant.keys, owner_of(tenant.id)), "quota": quota})
