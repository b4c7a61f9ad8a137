"""``/v1/admin/methods``: the memory methods that ship with Varve. The counterpart of ``varve methods``."""

from typing import Annotated, Final

from fastapi import APIRouter, Path
from starlette.responses import Response

from api.auth.authentication import require_operator
from api.http.json_http import JsonResponse
from api.http.openapi import refusals
from api.limits.route_admission import TURN
from api.problems import ProblemError
from api.response_models.schemas import METHOD, METHODS
from memory.errors import SchemaError
from memory.schema.methods import check_method, method_document, method_names

router = APIRouter(tags=["operators"])

_PATH: Final = "/v1/admin/methods"


@router.get(_PATH, dependencies=[require_operator("viewer"), TURN], responses=METHODS)
async def list_methods() -> Response:
    """All methods by name, with the types that each adds to a schema."""
    methods = [check_method(method_document(name)) for name in method_names()]
    content = [
        {
            "method": method.name,
            "version": method.version,
            "description": method.description,
            "source": method.source,
            "event_types": method.event_types,
            "entity_types": method.own_entity_types,
            "retrievers": [path.name for path in method.retrieval.paths],
        }
        for method in methods
    ]
    return JsonResponse({"methods": content})


@router.get(f"{_PATH}/{{method}}", dependencies=[require_operator("viewer"), TURN], responses=METHOD | refusals(404))
async def get_method(method: Annotated[str, Path(min_length=1, max_length=256)]) -> Response:
    """A method's document."""
    try:
        return JsonResponse({"method": method, "content": method_document(method)})
    except SchemaError as error:
        raise ProblemError(404, "not-found", str(error)) from error
