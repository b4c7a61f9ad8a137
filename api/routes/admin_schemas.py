"""``/v1/admin/schemas`` and ``/v1/admin/generations``: schemas with their revisions, and the generations of tenants."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query
from pydantic import Field, JsonValue, StringConstraints
from starlette.responses import Response

from api.auth.authentication import require_operator
from api.dependencies import AppDependencies
from api.http.entity_tags import IfMatch, expected_revisions, tag_of
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import REST, body_schema, json_body
from api.limits.route_admission import TURN
from api.problems import ProblemError
from api.response_models.admin import CHANGED
from api.response_models.schemas import DROPPED, GENERATIONS, SCHEMA, SCHEMA_WRITTEN, SCHEMAS, SWITCHED
from api.writes.control_changes import Settle, TenantQuery, apply_by_operator, tenant_of, write
from control.access_keys import OperatorKey
from control.documents import GenerationName
from control.draft import Draft
from control.errors import ChangeRefusedError
from control.generations.dropping import require_no_workers, retract
from control.generations.reading import generation_named
from control.generations.switching import require_complete, windows_left
from control.schemas import resolve_schema
from control.tenant_changes import add_generation, count_drop, require_switchable, set_generation
from memory.errors import SchemaError
from memory.records.limits import ForeignJson
from memory.records.message import Name
from memory.schema import parse_schema
from runtime.errors import GroupInUseError

router = APIRouter(tags=["operators"])

_SCHEMAS: Final = "/v1/admin/schemas"
_MAX_LIMIT: Final = 1000

_PATH: Final = "/v1/admin/generations"

_Admin = Annotated[OperatorKey, require_operator("admin")]
_AnyName = Annotated[str, StringConstraints(pattern=r"^(-|[A-Za-z0-9][A-Za-z0-9._-]{0,63})$")]


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
    content = {"schema": str(document.ref), "owner": document.owner, "content": document.content}
    return JsonResponse(content, headers={"ETag": tag_of(document.ref.revision)})


@router.post(_SCHEMAS, openapi_extra=body_schema(NewSchema), responses=SCHEMA_WRITTEN | refusals(404, 409, 412))
async def create_schema(
    operator: _Admin,
    body: Annotated[NewSchema, Depends(json_body(NewSchema, max_bytes=None))],
    dependencies: AppDependencies,
    if_match: IfMatch = None,
    settle: Settle = None,
) -> Response:
    """Writes a schema's next revision, unless it equals the newest one. No tenant's schema changes.

    With the newest revision that you have read as `If-Match` (`"0"` for a new name), it does not follow a revision that you have not seen.
    """
    schema, expected = _parsed(body.content), expected_revisions(if_match)
    return await write(
        dependencies,
        operator,
        lambda draft: {"schema": str(draft.put_schema(schema, owner=body.tenant, expected=expected))},
        action="schema put",
        settle=bool(settle),
    )


def _parsed(content: JsonValue) -> Any:
    try:
        return parse_schema(content)
    except SchemaError as error:
        raise ProblemError(422, "invalid", f"content: {error}") from error


class NewGeneration(RequestModel):
    """A generation to announce."""

    tenant: Name
    name: GenerationName
    schema_name: Annotated[str, Field(min_length=1, max_length=300)] | None = Field(default=None, alias="schema")
    """A schema of the control log or a shipped schema; null: the live generation's."""
    method: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    """A shipped memory method that extends the schema; null: that of the schema."""


class GenerationDropped(RequestModel):
    """A generation to drop."""

    tenant: Name
    name: _AnyName
    """``-``: the first generation."""


class GenerationSwitch(GenerationDropped):
    """A generation to make the live one."""

    incomplete: bool = False
    """Switches even if it lacks windows that the live one has."""


@router.get(_PATH, dependencies=[require_operator("viewer"), TURN], responses=GENERATIONS | refusals(404))
async def list_generations(tenant: TenantQuery, dependencies: AppDependencies) -> Response:
    """A tenant's generations with their schemas."""
    draft = dependencies.tenants.draft()
    known = tenant_of(draft, tenant)
    names = ("", *(each.name for each in known.generations))
    refs = {each: known.schema_of(each) for each in names}
    content = [
        {"name": name, "schema": str(ref), "method": draft.method_of(ref), "live": name == known.generation} for name, ref in refs.items()
    ]
    return JsonResponse({"generations": content})


@router.post(_PATH, openapi_extra=body_schema(NewGeneration), responses=CHANGED | refusals(404, 409))
async def create_generation(
    operator: _Admin,
    body: Annotated[NewGeneration, Depends(json_body(NewGeneration))],
    dependencies: AppDependencies,
    settle: Settle = None,
) -> Response:
    """Announces a generation. ``varve replay extraction --generation NAME`` writes it, and ``.../switch`` makes it live."""

    def change(draft: Draft) -> dict[str, Any]:
        add_generation(draft, body.tenant, body.name, schema=body.schema_name, method=body.method)
        return {}

    return await write(dependencies, operator, change, action="generation add", settle=bool(settle))


@router.post(f"{_PATH}/switch", openapi_extra=body_schema(GenerationSwitch), responses=SWITCHED | refusals(404, 409))
async def switch_generation(
    operator: _Admin,
    body: Annotated[GenerationSwitch, Depends(json_body(GenerationSwitch))],
    dependencies: AppDependencies,
    settle: Settle = None,
) -> Response:
    """Makes a generation the live one, for recalls and new extractions; 409 if it lacks windows that the live one has.

    The second worker may be stopped when ``windows_left`` is 0. It is reported once every process knows the switch; repeat the request.
    """
    settings, generation = dependencies.settings, generation_named(body.name)

    def change(draft: Draft) -> dict[str, Any]:
        set_generation(draft, body.tenant, generation)
        return {}

    draft = dependencies.tenants.draft()
    tenant_of(draft, body.tenant)
    if require_switchable(draft, body.tenant, generation).generation != generation:
        await require_complete(settings, body.tenant, generation, incomplete=body.incomplete)
    switched = await apply_by_operator(dependencies, operator, change, action="generation switch", settle=settle is None or settle)
    return JsonResponse({**switched, "windows_left": await windows_left(settings, generation)})


@router.post(f"{_PATH}/drop", openapi_extra=body_schema(GenerationDropped), responses=DROPPED | refusals(404, 409))
async def drop_generation(
    operator: _Admin,
    body: Annotated[GenerationDropped, Depends(json_body(GenerationDropped))],
    dependencies: AppDependencies,
    settle: Settle = None,
) -> Response:
    """Retracts everything that a generation has written; the running stages do the work.

    409 for an unknown generation, the live one, and one with a running worker. Repeated after a 503, it retracts the rest.
    """
    settings, generation = dependencies.settings, generation_named(body.name)
    try:
        await require_no_workers(settings, generation, wait=False)
    except GroupInUseError:
        count_drop(dependencies.tenants.draft(), body.tenant, generation)  # the refusal names the re-extraction, and what ends it
        raise
    counted = await apply_by_operator(
        dependencies,
        operator,
        lambda draft: {"drops": count_drop(draft, body.tenant, generation)},
        action="generation drop",
        settle=bool(settle),
    )
    return JsonResponse({**counted, "retracted": await retract(settings, body.tenant, generation, drops=counted["drops"])})
