"""The clients, stores and settings that routes use. ``api/composition.py`` opens them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from api.limits.admission import Admission
from api.limits.quotas import Quotas
from api.limits.requests_in_progress import RequestsInProgress
from api.previews import Previews
from api.reads.read_audit import ReadAudit
from api.reads.recall_log import RecallLog
from api.reads.store_positions import StorePositions
from api.stage_overview import StageOverview
from api.writes.erasures import Erasures
from control import ControlWriter
from control.key_usage import KeyUsage
from control.tenants import TenantDirectory
from models.embedding.build import GuardedEmbedder
from retrieval.pipeline import RecallPipeline
from retrieval.profiles import Profile
from runtime.background import BackgroundWorks
from runtime.clocks import Clock
from runtime.kafka import Producer
from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis
from runtime.redis.entity_view import EntityView
from runtime.redis.idempotency_cache import IdempotencyCache
from runtime.redis.session_tail import SessionTail
from runtime.settings import Settings
from runtime.tracing import SpanContext
from stores.guarded_store import GuardedStore

if TYPE_CHECKING:
    # Imported only if a setting turns them on.
    from api.auth.identity_provider import IdentityProvider
    from api.console.sessions import ConsoleSessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """The clients, stores and settings that routes use."""

    settings: Settings
    clock: Clock
    metrics: Metrics
    tenants: TenantDirectory
    identity: "IdentityProvider | None"
    """Verifies tokens. None: only API keys are accepted."""
    console: "ConsoleSessions | None"
    """The sessions of the console. None: it is switched off."""
    control: ControlWriter
    producer: Producer
    redis: GuardedRedis
    tail: SessionTail
    entity_view: EntityView
    answers: IdempotencyCache
    key_uses: KeyUsage
    store: GuardedStore
    store_positions: StorePositions
    embedder: GuardedEmbedder
    profiles: Mapping[str, Profile]
    """The ranking profiles that a recall may name."""
    recall: RecallPipeline
    recall_log: RecallLog
    read_audit: ReadAudit
    quotas: Quotas
    in_progress: RequestsInProgress
    admission: Admission
    erasures: Erasures
    overview: StageOverview
    previews: Previews
    background: BackgroundWorks


def dependencies_of(request: Request) -> Dependencies:
    """The dependencies of a request's app, for FastAPI dependencies: FastAPI would resolve a parameter of each of them again."""
    dependencies = request.app.state.dependencies
    assert isinstance(dependencies, Dependencies)
    return dependencies


# Coroutines, though they wait for nothing: FastAPI runs plain functions in threads, which compete for the interpreter lock.
async def _dependencies(request: Request) -> Dependencies:
    return dependencies_of(request)


async def _trace(request: Request) -> SpanContext:
    trace = request.state.trace
    assert isinstance(trace, SpanContext)
    return trace


AppDependencies = Annotated[Dependencies, Depends(_dependencies)]
RequestTrace = Annotated[SpanContext, Depends(_trace)]
