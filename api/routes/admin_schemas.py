"""``/v1/admin/schemas``: the schemas and their revisions."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query
from pydantic import JsonValue
from starlette.responses import Response

from api.admin_responses import SCHEMA, SCHEMA_WRITTEN, SCHEMAS
from api.admission import TURN
from api.authentication import require_operator
from api.control_changes import Settle, write
from api.dependencies import AppDependencies
from api.json_http import JsonResponse
from api.openapi import RequestModel, refusals
from api.problems import ProblemError
from api.request_body import REST, body_schema, json_body
from control.documents import OperatorKey
from control.errors import ChangeRefusedError
from control.schemas import resolve_schema
from memory.errors import SchemaError
from memory.records.limits import ForeignJson
from memory.records.message import Name
from memory.schema import parse_schema

router = APIRouter(tags=["operators"])

_SCHEMAS: Final = "/v1/admin/schemas"
_MAX_LIMIT: Final = 1000

_Admin = Annotated[OperatorKey, require_operator("admin")]


class NewSchema(RequestModel):
    """A schema to write."""

    content: ForeignJson
    """The schema, in the form of a file (docs/build/schemas.md)."""
    tenant: Name | None = None
    """The only tenant that may see and use it; null: every tenant."""


@router.get(_SCHEMAS, dependencies=[require_operator("viewer"), TURN], responses=SCHEMAS)
async def list_schemas(
    dependencies: AppDependencies,
    after: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=_MAX_LIMIT)] = 100,
) -> Response:
    """All revisions by name, starting at an offset, with the number of tenants that use each."""
    known = dependencies.tenants.draft()
    used = known.schemas_in_use()
    refs = sorted(used, key=lambda ref: (ref.name, ref.revision))
    page = refs[after : after + limit]
    documents = [known.schema(ref) for ref in page]
    content = [
        {"schema": str(ref), "tenants": used[ref], "owner": None if document is None else document.owner}
        for ref, document in zip(page, documents, strict=True)
    ]
    return JsonResponse({"schemas": content, "next": after + len(page) if after + limit < len(refs) else None})


@router.get(f"{_SCHEMAS}/{{schema:{REST}}}", dependencies=[require_operator("viewer"), TURN], responses=SCHEMA | refusals(404))
async def get_schema(schema: Annotated[str, Path(min_length=1, max_length=300)], dependencies: AppDependencies) -> Response:
    """A schema by ``NAME`` or ``NAME@REVISION``: its ``content`` can be sent back unchanged."""
    known = dependencies.tenants.draft()
    try:
        document = known.schema(resolve_schema(known, schema))
    except ChangeRefusedError as error:
        raise ProblemError(404, "not-found", str(error)) from error
    assert document is not None
    return JsonResponse({"schema": str(document.ref), "owner": document.owner, "content": document.content})


@router.post(_SCHEMAS, openapi_extra=body_schema(NewSchema), responses=SCHEMA_WRITTEN | refusals(404, 409))
async def create_schema(
    operator: _Admin,
    body: Annotated[NewSchema, Depends(json_body(NewSchema, max_bytes=None))],
    dependencies: AppDependencies,
    settle: Settle = None,
) -> Response:
    """Writes a schema's next revision, unless it equals the newest one. No tenant's schema changes."""
    schema = _parsed(body.content)
    return await write(
        dependencies,
        operator,
        lambda draft: {"schema": str(draft.put_schema(schema, owner=body.tenant))},
        action="schema put",
        settle=bool(settle),
    )


def _parsed(content: JsonValue) -> Any:
    try:
        return parse_schema(content)
    except SchemaError as error:
        raise ProblemError(422, "invalid", f"content: {error}") from error
