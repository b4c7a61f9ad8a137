"""The query service as an ASGI app: it reads the stores and produces to topics, and nothing else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from retrieval.service.middleware import BodyLimit, Observed
from retrieval.service.parts import OpenParts, open_parts
from retrieval.service.problems import install_problem_handlers
from retrieval.service.routes import dead_letters, health, memories, messages, recall, sessions
from runtime.metrics import metrics
from runtime.settings import Settings


def create_app(settings: Settings, *, open_parts: OpenParts = open_parts) -> FastAPI:
    """Builds the service.

    Args:
        settings: Where everything is.
        open_parts: Opens what requests work with, for as long as the app runs.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_parts(settings) as parts:
            app.state.parts = parts
            yield

    app = FastAPI(title="Varve", description="A streaming memory base for LLM applications.", lifespan=lifespan)
    app.add_middleware(BodyLimit, max_bytes=settings.service.max_body_bytes)
    app.add_middleware(Observed, metrics=metrics())
    install_problem_handlers(app)
    for routes in (messages, recall, memories, sessions, dead_letters, health):
        app.include_router(routes.router)
    return app
