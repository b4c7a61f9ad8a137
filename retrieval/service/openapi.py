"""What the OpenAPI document says beside what FastAPI reads off the routes: every status, its content, schemas without references."""

from typing import Any, Final

from pydantic import BaseModel

from retrieval.service.problems import MEDIA_TYPE

Schema = dict[str, Any]
Responses = dict[int | str, dict[str, Any]]

_PROBLEM: Final[Schema] = {
    "type": "object",
    "title": "Problem",
    "description": "A problem detail (RFC 9457). Some bear further members.",
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        "type": {"type": "string", "description": "`urn:varve:problem:` and a stable word."},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "description": "What was wrong, and what to do."},
        "instance": {"type": "string", "description": "The path of the request."},
        "trace_id": {"type": "string", "description": "As the service's log bears it."},
    },
}

_REASONS: Final = {
    401: "No key, or one that nobody has.",
    403: "The key is not for this.",
    404: "There is no such thing, or it is another tenant's.",
    408: "The request did not come in time.",
    409: "Another request with this `Idempotency-Key` is in work (`in-work`); or a change does not fit what there is (`change-refused`), "
    "or this process carries out no erasures (`not-equipped`).",
    413: "The body, the batch, or a message is too large.",
    422: "Something in the request is not as it has to be; `detail` names the field.",
    429: "Too much at once, or too much for the quota.",
    500: "A defect in Varve; the service's log has the reason under the trace id.",
    503: "Something that the request needs is away.",
    507: "The tenant has as many memories as it may have.",
}
_WAIT: Final = {"Retry-After": {"description": "Seconds to wait before the next try.", "schema": {"type": "integer", "minimum": 0}}}
_WAITED: Final = frozenset({409, 429, 503})

OPEN: Final = (408, 500, 503)
"""What any request may be answered with."""
KEYED: Final = (401, 403, 413, 422, 429)
"""And what one that needs a key may be answered with."""


def refusals(*statuses: int) -> Responses:
    """The responses that are problems."""
    return {
        status: {"description": _REASONS[status], "content": {MEDIA_TYPE: {"schema": _PROBLEM}}} | _headers(status) for status in statuses
    }


def answers(schema: Schema, *, status: int = 200, description: str = "Done.", headers: Schema | None = None) -> Responses:
    """The response that is no problem.

    Args:
        schema: Of its JSON.
        status: Its status.
        description: What it says.
        headers: Its headers, as OpenAPI describes them.
    """
    return {status: {"description": description, "content": {"application/json": {"schema": schema}}, "headers": headers or {}}}


def schema_of(model: type[BaseModel], *, without: tuple[str, ...] = (), closed: bool = False) -> Schema:
    """A model's schema, whole in itself: a reference within it would point to another place of the document.

    Args:
        model: What is described.
        without: Fields that are left out.
        closed: Whether no other fields may be there.
    """
    schema = model.model_json_schema()
    whole: Schema = _inlined(schema, schema.get("$defs", {}))
    whole.pop("$defs", None)
    whole["properties"] = {name: each for name, each in whole["properties"].items() if name not in without}
    whole["required"] = [name for name in whole.get("required", ()) if name not in without]
    return {**whole, "additionalProperties": False} if closed else whole


def _inlined(part: Any, definitions: Schema) -> Any:
    if isinstance(part, list):
        return [_inlined(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    reference = part.get("$ref")
    own = {name: _inlined(each, definitions) for name, each in part.items() if name != "$ref"}
    return own if reference is None else {**_inlined(definitions[reference.rpartition("/")[2]], definitions), **own}


def _headers(status: int) -> Schema:
    return {"headers": _WAIT} if status in _WAITED else {}
