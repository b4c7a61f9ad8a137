"""Bodies that are read after the caller has been recognised. FastAPI reads and parses a typed body before it resolves any dependency."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from retrieval.service.json_http import read_json
from retrieval.service.openapi import schema_of

M = TypeVar("M", bound=BaseModel)


def json_body(model: type[M], *, default: M | None = None) -> Callable[[Request], Awaitable[M]]:
    """A dependency that reads the body. Name it behind the one that recognises the caller: they are resolved in order.

    Args:
        model: What the body has to be.
        default: Stands for an empty body; None: the body is needed.
    """

    async def read(request: Request) -> M:
        if default is not None and not await request.body():
            return default
        try:
            return model.model_validate(await read_json(request))
        except ValidationError as error:
            raise RequestValidationError([{**each, "loc": ("body", *each["loc"])} for each in error.errors()]) from error

    return read


def body_schema(model: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """What a route with such a body adds to its OpenAPI.

    Args:
        model: What the body has to be.
        required: Whether there has to be one.
    """
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema_of(model)}}}}
