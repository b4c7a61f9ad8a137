"""Reads requests: JSON bodies after the caller is authenticated, and the rest of a path.

FastAPI reads and parses a typed body before it resolves any dependency.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Set
from typing import Any, Final, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request

from api.http.json_http import read_json
from api.http.openapi import component
from api.problems import MOST_LISTED, ProblemError
from memory.name_hints import meant_name

M = TypeVar("M", bound=BaseModel)

MAX_BYTES: Final = 1_500_000
"""Largest body without messages, schema or tenants: the size of a record. Parsing a body blocks every other request."""
MAX_VALUES: Final = 5_000
"""Most values in all lists and objects of such a body. An error costs ten times as much as a value, and pydantic builds one for each
wrong value. The largest intended body, a repeated recall with the positions of 1,024 partitions, has 4,100."""
MAX_SCHEMA_VALUES: Final = 50_000
"""Most values of a body with a schema. The largest schema, of 2,000 properties, has some 20,000."""

_NAMED: Final = 5
_LONGEST_NAME: Final = 80


def json_body(
    model: type[M], *, default: M | None = None, max_bytes: int | None = MAX_BYTES, max_values: int | None = None
) -> Callable[[Request], Awaitable[M]]:
    """A dependency that reads the body. Declare it after the one that authenticates the caller: they are resolved in order.

    Args:
        model: The model of the body.
        default: The value for an empty body. None: the body is required.
        max_bytes: The largest body. None: the service's limit.
        max_values: Most values in all lists and objects. Default: :data:`MAX_VALUES`, or no limit without ``max_bytes``.
    """
    most = MAX_VALUES if max_values is None and max_bytes is not None else max_values
    known = {field.alias or name for name, field in model.model_fields.items()}

    async def read(request: Request) -> M:
        body = await request.body()
        if default is not None and not body:
            return default
        if max_bytes is not None and len(body) > max_bytes:
            raise ProblemError(413, "too-large", f"the body has {len(body)} bytes; this route accepts up to {max_bytes} bytes")
        fields = await read_json(request)
        _refuse_crowds(fields, known)
        if most is not None:
            _refuse_multitudes(fields, most)
        try:
            return model.model_validate(fields)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            raise RequestValidationError(list(_with_known_names(problems, known, fields))) from error

    return read


def _with_known_names(problems: Iterable[ErrorDetails], known: Set[str], fields: Any) -> Iterator[Mapping[str, Any]]:
    """The problems; that of an unknown name of the body says which name was probably meant, or once which names there are."""
    lists_names = True
    for problem in problems:
        if problem["type"] != "extra_forbidden" or len(problem["loc"]) > 1:
            yield problem
        elif (meant := meant_name(str(problem["loc"][0]), known, fields)) is not None:
            yield {**problem, "type": "unknown_name", "msg": f"unknown name; did you mean {meant!r}?"}
        elif lists_names and known:
            lists_names = False
            yield {**problem, "type": "unknown_name", "msg": f"unknown name; expected some of: {', '.join(sorted(known))}"}
        else:
            yield problem


def _refuse_crowds(fields: object, known: Set[str]) -> None:
    """Rejects more unknown names than a response lists. pydantic reports a few.

    Raises:
        ProblemError: 422.
    """
    unknown = [each for each in fields if each not in known] if isinstance(fields, dict) else []
    if len(unknown) > MOST_LISTED:
        names = ", ".join(each[:_LONGEST_NAME] for each in unknown[:_NAMED])
        raise ProblemError(422, "invalid", f"{names} and {len(unknown) - _NAMED} more: unknown fields")


def _refuse_multitudes(fields: object, most: int) -> None:
    """Rejects more values than any intended body has.

    Raises:
        ProblemError: 422; names the list or the object that is too large.
    """
    room, waiting = most, [("", fields)]
    while waiting:
        name, value = waiting.pop()
        if not isinstance(value, dict | list):
            continue
        room -= len(value)
        if room < 0:
            where = f"{name[:_LONGEST_NAME]}: " if name else ""
            raise ProblemError(422, "invalid", f"{where}a body may have at most {most} values in all of its lists and objects")
        waiting += value.items() if isinstance(value, dict) else [(name, each) for each in value]


def body_schema(model: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """The OpenAPI description of a route's body.

    Args:
        model: The model of the body.
        required: Whether the body is required.
    """
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": component(model)}}}}


REST: Final = "rest"
"""The converter for the rest of a path. Starlette's ``path`` ends at a line break."""


class _Rest(Convertor[str]):
    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor(REST, _Rest())
