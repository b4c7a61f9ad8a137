"""The query service as an ASGI app. It reads the stores and produces to topics."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter, FastAPI
from starlette.responses import Response

from api.composition import OpenDependencies, open_dependencies
from api.json_http import JsonResponse
from api.mcp.errors import McpMissingError
from api.middleware import BodySizeMiddleware, ObservabilityMiddleware
from api.openapi import KEYED, OPEN, document, refusals
from api.problems import add_problem_handlers
from api.responses import ALIVE
from api.routes import (
    admin_control,
    admin_erasures,
    admin_generations,
    admin_keys,
    admin_methods,
    admin_schemas,
    admin_tenants,
    corrections,
    dead_letters,
    entities,
    key_status,
    memories,
    memory_list,
    message_changes,
    messages,
    operate,
    recall,
    user_erasures,
)
from runtime.metrics import metrics
from runtime.settings import Settings

if TYPE_CHECKING:
    from api.mcp.http import McpEndpoint

_FOR_OPERATORS: Final = (
    *(dead_letters, admin_tenants, admin_keys, admin_schemas, admin_methods, admin_generations, admin_erasures, admin_control),
)

_health: Final = APIRouter(tags=["health"])


@_health.get("/healthz", responses=ALIVE)
async def get_health() -> Response:
    """200 as soon as the process serves. Readiness and metrics are on the health page, which has its own port."""
    return JsonResponse({"status": "ok"})


def create_app(settings: Settings, *, open_dependencies: OpenDependencies = open_dependencies) -> FastAPI:
    """Builds the service.

    Args:
        settings: Addresses and limits.
        open_dependencies: Opens the dependencies for as long as the app runs.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_dependencies(settings) as dependencies, nullcontext() if mcp is None else mcp.running():
            app.state.dependencies = dependencies
            yield

    app = FastAPI(
        title="Varve",
        description="Long-term memory for LLM applications.",
        lifespan=lifespan,
        # A redirect would contain the host of the caller's `Host` header, which may be forged.
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.add_middleware(BodySizeMiddleware, max_bytes=settings.service.max_body_bytes)
    app.add_middleware(ObservabilityMiddleware, metrics=metrics())
    add_problem_handlers(app)
    for routes in (
        messages,
        message_changes,
        recall,
        memory_list,
        memories,
        entities,
        corrections,
        user_erasures,
        key_status,
        operate,
        *_FOR_OPERATORS,
    ):
        app.include_router(routes.router, responses=refusals(*OPEN, *KEYED))
    app.include_router(_health, responses=refusals(*OPEN))
    mcp = _mcp_endpoint(app, settings) if settings.mcp.enabled else None
    if mcp is not None:
        app.router.routes.append(mcp.route)

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    return app


def _mcp_endpoint(app: FastAPI, settings: Settings) -> "McpEndpoint":
    """The MCP endpoint. Its packages are imported only if the setting turns it on.

    Raises:
        McpMissingError: If they are not installed.
    """
    try:
        from api.mcp.http import McpEndpoint
    except ModuleNotFoundError as error:
        raise McpMissingError("VARVE_MCP__ENABLED") from error
    return McpEndpoint(app, settings)
