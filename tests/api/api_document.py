"""The OpenAPI document with every reference replaced by what it refers to, for tests that walk through schemas."""

from typing import Any, Final

from api.app import create_app
from runtime.settings import Settings

DOCUMENT: Final[dict[str, Any]] = create_app(Settings()).openapi()


def inlined(part: Any, components: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [inlined(each, components) for each in part]
    if not isinstance(part, dict):
        return part
    reference = part.get("$ref")
    own = {name: inlined(each, components) for name, each in part.items() if name != "$ref"}
    return own if reference is None else {**inlined(components[reference.rpartition("/")[2]], components), **own}


PATHS: Final[dict[str, Any]] = inlined(DOCUMENT["paths"], DOCUMENT["components"]["schemas"])
