"""``/v1/schemas``: the schemas that a tenant may use: its own and those of all tenants. For keys with the scope ``operate``."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from api.admin_responses import OWN_SCHEMAS, SCHEMA
from api.authentication import OperateCaller
from api.dependencies import AppDependencies
from api.json_http import JsonResponse
from api.openapi import refusals
from api.problems import ProblemError
from api.request_body import REST
from control.errors import ChangeRefusedError
from control.schemas import resolve_schema

router = APIRouter(tags=["operate"])

_PATH: Final = "/v1/schemas"
_MAX_LIMIT: Final = 1000


@router.get(_PATH, responses=OWN_SCHEMAS)
async def list_own_schemas(
    caller: OperateCaller,
    dependencies: AppDependencies,
    after: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=_MAX_LIMIT)] = 100,
) -> Response:
    """The revisions that the tenant may use, by name, starting at an offset; no other tenant sees those with ``own``."""
    known = dependencies.tenants.draft()
    documents = [each for ref in known.schemas_in_use() if (each := known.schema(ref)) and each.is_open_to(caller.tenant.id)]
    documents.sort(key=lambda each: (each.name, each.number))
    in_force = caller.tenant.schema_of(caller.tenant.generation)
    page = [
        {"schema": str(each.ref), "own": each.owner is not None, "in_force": each.ref == in_force}
        for each in documents[after : after + limit]
    ]
    return JsonResponse({"schemas": page, "next": after + len(page) if after + limit < len(documents) else None})


@router.get(f"{_PATH}/{{schema:{REST}}}", responses=SCHEMA | refusals(404))
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
    return JsonResponse({"schema": str(document.ref), "content": document.content})
