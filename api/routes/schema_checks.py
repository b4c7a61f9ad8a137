"""``.../schemas/validate``: checks a schema and a method without writing them; and the shipped methods, for tenants."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path
from pydantic import Field, JsonValue
from starlette.responses import Response

from api.auth.authentication import OperateCaller, require_operator
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import MAX_SCHEMA_VALUES, body_schema, json_body
from api.problems import ProblemError
from api.response_models.console import CHECKED
from api.response_models.schemas import METHOD, METHODS
from api.routes.admin_methods import get_method, list_methods
from extraction.one_pass.prompt.prefix import compile_prefix
from memory.errors import SchemaError
from memory.records.limits import ForeignJson
from memory.schema import MemorySchema, parse_schema
from memory.schema.methods import method_document, with_method
from memory.texts.text import estimate_tokens

tenants_router = APIRouter(tags=["operate"])
operators_router = APIRouter(tags=["operators"])

_METHODS: Final = "/v1/methods"

MethodChoice = Annotated[str, Field(min_length=1, max_length=256)] | dict[str, JsonValue] | None
"""The name of a shipped method, or a method's document."""


class SchemaCheck(RequestModel):
    """A schema to check."""

    content: ForeignJson
    """The schema, in the form of a file (docs/build/schemas.md)."""
    method: MethodChoice = None
    """The name or the document of a memory method that extends it. Null: the schema as it is."""


_Body = Annotated[SchemaCheck, Depends(json_body(SchemaCheck, max_bytes=None, max_values=MAX_SCHEMA_VALUES))]
_BODY: Final = body_schema(SchemaCheck)


def composed(content: ForeignJson, method: MethodChoice) -> MemorySchema:
    """A schema, extended by a method.

    Raises:
        ProblemError: 422 with the path of the first error.
    """
    try:
        return _composed(content, method)
    except SchemaError as error:
        raise ProblemError(422, "invalid", f"content: {error}", members={"path": error.path}) from error


@tenants_router.post("/v1/schemas/validate", openapi_extra=_BODY, responses=CHECKED)
async def validate_own_schema(caller: OperateCaller, body: _Body) -> Response:
    """Checks a schema, with the path of the first error; shows its types and the tokens of its part of the prompt. Writes nothing."""
    return JsonResponse(_checked(body))


@operators_router.post("/v1/admin/schemas/validate", dependencies=[require_operator("viewer")], openapi_extra=_BODY, responses=CHECKED)
async def validate_schema(body: _Body) -> Response:
    """Checks a schema, with the path of the first error; shows its types and the tokens of its part of the prompt. Writes nothing."""
    return JsonResponse(_checked(body))


@tenants_router.get(_METHODS, responses=METHODS)
async def list_shipped_methods(caller: OperateCaller) -> Response:
    """The memory methods that ship with Varve, by name, with the types that each adds to a schema."""
    return await list_methods()


@tenants_router.get(f"{_METHODS}/{{method}}", responses=METHOD | refusals(404))
async def get_shipped_method(caller: OperateCaller, method: Annotated[str, Path(min_length=1, max_length=256)]) -> Response:
    """A method's document."""
    return await get_method(method)


def _composed(content: ForeignJson, method: MethodChoice) -> MemorySchema:
    schema = parse_schema(content)
    if method is None:
        return schema
    return with_method(schema, method_document(method) if isinstance(method, str) else method)


def _checked(body: SchemaCheck) -> dict[str, Any]:
    try:
        schema = _composed(body.content, body.method)
    except SchemaError as error:
        problems = [{"path": error.path, "message": error.problem}]
        return {"valid": False, "problems": problems, "name": None, "event_types": [], "entity_types": [], "prompt_tokens": None}
    return {
        "valid": True,
        "problems": [],
        "name": schema.name,
        "event_types": [each.name for each in schema.event_types],
        "entity_types": [each.name for each in schema.entity_types],
        "prompt_tokens": estimate_tokens(compile_prefix(schema)),
    }
