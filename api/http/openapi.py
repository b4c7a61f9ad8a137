"""The OpenAPI document: components from the pydantic models, every status with its content, an example for each operation."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from api.examples import EXAMPLES
from api.problems import MEDIA_TYPE

Schema = dict[str, Any]
Responses = dict[int | str, dict[str, Any]]

_REF: Final = "#/components/schemas/{model}"
_COMPONENTS: Final[dict[str, type[BaseModel]]] = {}
"""The models that routes refer to, by name. Filled when the modules of the routes are imported."""


class ResponseModel(BaseModel):
    """Base of the response models. The docstring of a field is its description in the document."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class RequestModel(BaseModel):
    """Base of the models of request bodies: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Problem(ResponseModel):
    """A problem detail (RFC 9457). Some problems have further members."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "type": "urn:varve:problem:invalid",
                "title": "Unprocessable Content",
                "status": 422,
                "detail": "limit: Input should be greater than or equal to 1",
                "instance": "/v1/recall",
                "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
            }
        },
    )

    type: str
    """``urn:varve:problem:`` and a stable identifier."""
    title: str
    status: int
    detail: str
    """The fault, and how to correct it."""
    instance: str
    """The path of the request."""
    trace_id: str = ""
    """The id under which the service logged the request."""


class _Compact(GenerateJsonSchema):
    """JSON Schema without a title for each field: clients would only repeat its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


_REASONS: Final = {
    401: "The API key is missing or unknown.",
    403: "The API key lacks a permission.",
    404: "The resource does not exist, or belongs to another tenant.",
    408: "The client sent the request too slowly.",
    409: "Another request with this `Idempotency-Key` is in progress (`in-work`); or a change contradicts the current state "
    "(`change-refused`, `edit-conflict`), "
    "or this process runs no erasures (`not-equipped`), or a legal hold forbids an erasure (`legal-hold`).",
    412: "The resource has changed since the revision that `If-Match` names.",
    413: "The body, the batch, or a message is too large.",
    422: "The request is invalid; `detail` names the field.",
    429: "Too many concurrent requests, or the quota is used up.",
    500: "A defect in Varve; the service's log has the reason under the trace id.",
    502: "The model's answer is unusable.",
    503: "A dependency of the request is unavailable.",
    507: "The tenant has reached its maximum number of memories.",
}
_WAIT: Final = {"Retry-After": {"description": "Seconds to wait before the next attempt.", "schema": {"type": "integer", "minimum": 0}}}
_WAITED: Final = frozenset({409, 429, 503})

OPEN: Final = (408, 500, 503)
"""Error statuses of any request."""
KEYED: Final = (401, 403, 413, 422, 429)
"""Further error statuses of requests that need a key."""


def refusals(*statuses: int) -> Responses:
    """The responses with problems."""
    content = {MEDIA_TYPE: {"schema": component(Problem)}}
    return {status: {"description": _REASONS[status], "content": content} | _headers(status) for status in statuses}


def answers(model: type[BaseModel], *, status: int = 200, description: str = "Done.", headers: Schema | None = None) -> Responses:
    """The successful response."""
    content = {"application/json": {"schema": component(model)}}
    return {status: {"description": description, "content": content, "headers": headers or {}}}


def component(model: type[BaseModel]) -> Schema:
    """A reference to a model's schema, which the document then contains.

    Raises:
        ValueError: If another model has the same name: clients could not distinguish them.
    """
    if _COMPONENTS.setdefault(model.__name__, model) is not model:
        raise ValueError(f"two models of the API are called {model.__name__}: rename one of them")
    return {"$ref": _REF.format(model=model.__name__)}


def document(app: FastAPI) -> Schema:
    """The OpenAPI document of an app: its routes, the components they refer to, and an example for each operation."""
    whole = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    pairs = [(model, "validation") for _, model in sorted(_COMPONENTS.items())]
    _, definitions = models_json_schema(pairs, ref_template=_REF, schema_generator=_Compact)  # type: ignore[arg-type]
    whole.setdefault("components", {})["schemas"] = definitions["$defs"]
    for methods in whole["paths"].values():
        for operation in methods.values():
            _add_examples(operation)
    return whole


def _add_examples(operation: Schema) -> None:
    example = EXAMPLES[operation["operationId"]]
    if example.request is not None:
        operation["requestBody"]["content"]["application/json"]["example"] = example.request
    first = min(status for status in operation["responses"] if status.startswith("2"))
    operation["responses"][first]["content"]["application/json"]["example"] = example.response


def _headers(status: int) -> Schema:
    return {"headers": _WAIT} if status in _WAITED else {}
