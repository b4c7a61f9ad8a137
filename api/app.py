"""The query service as an ASGI app. It reads the stores and produces to topics."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter, FastAPI
from starlette.responses import Response
from starlette.routing import BaseRoute

from api.auth.authentication import RecallCaller
from api.auth.resource_metadata import metadata_routes
from api.composition import OpenDependencies, open_dependencies
from api.http.json_http import JsonResponse
from api.http.middleware import BodySizeMiddleware, ObservabilityMiddleware
from api.http.openapi import KEYED, OPEN, document, refusals
from api.problems import add_problem_handlers
from api.response_models.messages import ALIVE, KEY_STATUS
from api.routes import (
    admin_control,
    admin_holds,
    admin_keys,
    admin_methods,
    admin_reextractions,
    admin_schemas,
    admin_tenants,
    admin_trust,
    admin_webhooks,
    blocks,
    corrections,
    dead_letters,
    entities,
    erasures,
    evidence,
    links,
    memories,
    message_changes,
    messages,
    operate,
    overview,
    recall,
    schema_checks,
    sessions,
    usage,
)
from runtime.errors import ExtraMissingError
from runtime.metrics import metrics
from runtime.settings import Settings

if TYPE_CHECKING:
    from api.mcp.http import McpEndpoint

_health: Final = APIRouter(tags=["health"])
_key_status: Final = APIRouter(tags=["read"])

_ROUTERS: Final = (
    messages.router,
    message_changes.router,
    recall.router,
    evidence.router,
    sessions.router,
    memories.router,
    links.router,
    entities.router,
    corrections.router,
    blocks.router,
    erasures.tenants_router,
    _key_status,
    overview.tenants_router,
    usage.tenants_router,
    sessions.previews_router,
    schema_checks.tenants_router,
    operate.router,
    dead_letters.router,
    admin_tenants.router,
    admin_trust.router,
    admin_keys.router,
    admin_webhooks.router,
    admin_schemas.router,
    admin_methods.router,
    admin_reextractions.router,
    erasures.operators_router,
    admin_holds.router,
    admin_control.router,
    overview.operators_router,
    usage.operators_router,
    schema_checks.operators_router,
)
"""Routers of keyed routes, in the order of the OpenAPI document."""


@_health.get("/healthz", responses=ALIVE)
async def get_health() -> Response:
    """200 as soon as the process serves. Readiness and metrics are on the health page, which has its own port."""
    return JsonResponse({"status": "ok"})


@_key_status.get("/v1/status", responses=KEY_STATUS)
async def get_status(caller: RecallCaller) -> Response:
    """The tenant, the user and the scopes of the key, and the schema of the tenant's live generation."""
    tenant, key = caller.tenant, caller.key
    return JsonResponse(
        {
            "tenant": tenant.id,
            "user": key.user,
            "scopes": [*key.scopes],
            "schema": str(tenant.live_schema),
            "generation": tenant.generation,
        }
    )


def create_app(settings: Settings, *, open_dependencies: OpenDependencies = open_dependencies) -> FastAPI:
    """Builds the service."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_dependencies(settings) as dependencies, nullcontext() if mcp is None else mcp.running():
            app.state.dependencies = dependencies
            yield

    app = FastAPI(
        title="Varve",
        description="Long-term memory for LLM applications. Send the API key as `Authorization: Bearer KEY` or `X-API-Key`. "
        "Errors are `application/problem+json`: `type` names the problem, `detail` says what was wrong and what to do. "
        "Responses with 429 or 503 have a `Retry-After`.",
        lifespan=lifespan,
        # A redirect would contain the host of the caller's `Host` header, which may be forged.
        redirect_slashes=False,
        # Their pages load scripts of other sites, which could use the session of a browser that is signed in to the console.
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.add_middleware(BodySizeMiddleware, max_bytes=settings.service.max_body_bytes)
    app.add_middleware(ObservabilityMiddleware, metrics=metrics())
    add_problem_handlers(app)
    for router in _ROUTERS:
        app.include_router(router, responses=refusals(*OPEN, *KEYED))
    app.include_router(_health, responses=refusals(*OPEN))
    mcp = _mcp_endpoint(app, settings) if settings.mcp.enabled else None
    if mcp is not None:
        app.router.routes += [mcp.route, *metadata_routes(settings.oidc)]
    if settings.mem0.enabled:
        app.router.routes.append(_mem0_routes(app))
    if settings.viking.enabled:
        app.router.routes.append(_viking_routes(app))
    if settings.console.enabled:
        app.router.routes += _console_routes()

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    return app


def _mem0_routes(app: FastAPI) -> BaseRoute:
    """The routes of mem0's API. Its modules are imported only if the setting turns it on."""
    from api.mem0.http import Mem0Facade

    return Mem0Facade(app).route


def _viking_routes(app: FastAPI) -> BaseRoute:
    """The routes of VikingDB Memory's API. Its modules are imported only if the setting turns it on."""
    from api.viking.http import VikingFacade

    return VikingFacade(app).route


def _console_routes() -> Sequence[BaseRoute]:
    """The routes of the console. Its modules are imported only if the setting turns it on."""
    from api.console.http import Console

    return Console().routes


def _mcp_endpoint(app: FastAPI, settings: Settings) -> "McpEndpoint":
    """The MCP endpoint. Its packages are imported only if the setting turns it on.

    Raises:
        ExtraMissingError: If they are not installed.
    """
    try:
        from api.mcp.http import McpEndpoint
    except ModuleNotFoundError as error:
        raise ExtraMissingError("VARVE_MCP__ENABLED", "mcp") from error
    return McpEndpoint(app, settings)
