"""Each route knows its own query parameters, and refuses others."""

from collections.abc import Iterator
from typing import Any

from fastapi.routing import APIRoute

from api.app import create_app
from api.http.query_parameters import parameters_of
from runtime.settings import Settings


def _routes(routes: list[Any]) -> Iterator[APIRoute]:
    """All routes, with those of included routers."""
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        else:
            included = getattr(route, "original_router", None)
            yield from _routes(included.routes if included is not None else [])


def _takes_several(schema: dict[str, Any]) -> bool:
    return any(each.get("type") == "array" for each in (schema, *schema.get("anyOf", ())))


def test_each_route_knows_the_documented_parameters() -> None:
    app = create_app(Settings())
    paths = app.openapi()["paths"]
    checked = 0
    for route in _routes(app.router.routes):
        for method in route.methods or ():
            operation = paths.get(route.path, {}).get(method.lower())
            if operation is None:
                continue
            checked += 1
            documented = {each["name"]: _takes_several(each["schema"]) for each in operation.get("parameters", ()) if each["in"] == "query"}
            assert parameters_of(route) == documented, (method, route.path)
    assert checked >= len(paths)
