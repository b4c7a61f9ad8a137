"""Runs the query service as a process, with a health page that reports the readiness of its dependencies."""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import uvicorn
import uvloop

from api.app import create_app
from api.composition import open_dependencies
from api.dependencies import Dependencies
from api.kafka_probes import KafkaProbes
from api.limits.timeouts import bounded_protocol
from memory.errors import VarveError
from models.credentials import credential_watch
from runtime.garbage import collect_seldom, loading
from runtime.interruption import pause, run_until_signal, stop_by
from runtime.logs import configure_logging, logger
from runtime.probe import Check, ProbeServer
from runtime.redis.server import RedisWatch
from runtime.settings import ServiceSettings, Settings
from runtime.tracing import exporting_spans
from streams.operations.service_work import Eraser, ServiceJob

_log = logger(__name__)

_RETRY_S: Final = 1.0
"""Longest time between two rounds while a required dependency is unavailable, so that its return is noticed soon."""
_FRESHNESS: Final = "fresh"
_ROUNDS_MISSED: Final = 3
"""Number of missed rounds after which the process is too busy, or the checks have stopped."""

SWITCH_INTERVAL_S: Final = 0.0005
"""Interval at which the interpreter lock is handed over. A thread that embeds a query needs it three times; with the default
it would wait up to five milliseconds each time while the event loop works on another large response."""
_MIDDLE_COLLECTIONS: Final = 100
"""Middle collections between two full ones, each of which blocks every request for ten milliseconds or more. By default there
are ten, which a thousand results cause; records that are kept are seldom garbage."""
_CLOSE_S: Final = 8.0
"""Time limit for closing all clients after the last request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A check of a dependency."""

    ask: Callable[[], Awaitable[object]]
    """Raises a VarveError if the dependency does not respond."""
    needed: bool = True
    """Whether the service needs it to work."""


class Readiness:
    """Checks all dependencies periodically, and keeps the result of the last round.

    Args:
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, *, probes: Mapping[str, Probe], settings: ServiceSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._probes = probes
        self._interval_s = settings.probe_interval_s
        self._timeout_s = settings.probe_timeout_s
        self._clock = clock
        self._checks: dict[str, Check] = {
            name: Check(ok=False, needed=probe.needed, problem="not asked yet") for name, probe in probes.items()
        }
        self._round_ended_at = clock()

    @property
    def checks(self) -> dict[str, Check]:
        """The results of the last round, and whether they are fresh: a process that has no time for checks has none for requests."""
        stale_after_s = _ROUNDS_MISSED * (self._interval_s + self._timeout_s)
        age_s = self._clock() - self._round_ended_at
        if age_s <= stale_after_s:
            return self._checks
        return {**self._checks, _FRESHNESS: Check(ok=False, problem=f"the last look at the dependencies was {age_s:.0f} s ago")}

    async def run(self) -> None:
        """Runs rounds until it is cancelled."""
        while True:
            await self.ask_all()
            all_well = all(check.ok or not check.needed for check in self._checks.values())
            await pause(self._interval_s if all_well else min(_RETRY_S, self._interval_s))

    async def ask_all(self) -> None:
        """One round."""
        checks = await asyncio.gather(*map(self._check, self._probes.values()))
        self._checks = dict(zip(self._probes, checks, strict=True))
        self._round_ended_at = self._clock()

    async def _check(self, probe: Probe) -> Check:
        try:
            async with asyncio.timeout(self._timeout_s):
                await probe.ask()
        except TimeoutError:
            return Check(ok=False, needed=probe.needed, problem=f"no answer in {self._timeout_s:g} s")
        except VarveError as error:
            return Check(ok=False, needed=probe.needed, problem=str(error))
        except Exception as error:
            # An unexpected error of one check must not stop the others.
            _log.exception("probe_failed", exc_info=error)
            return Check(ok=False, needed=probe.needed, problem=type(error).__name__)
        return Check(ok=True, needed=probe.needed)


def _follows_control(dependencies: Dependencies) -> Callable[[], Awaitable[object]]:
    async def ask() -> None:
        dependencies.tenants.require_current()

    return ask


def readiness_of(dependencies: Dependencies, kafka: KafkaProbes) -> Readiness:
    """The readiness of a service with these dependencies."""
    probes = {
        "control": Probe(ask=_follows_control(dependencies)),
        "kafka": Probe(ask=kafka.topics),
        "clock": Probe(ask=kafka.clock),
        "store": Probe(ask=dependencies.store.check),
        "redis": Probe(ask=dependencies.redis.check_writes, needed=False),
        "embedder": Probe(ask=dependencies.embedder.check),
    }
    return Readiness(probes=probes, settings=dependencies.settings.service)


@asynccontextmanager
async def health_page(dependencies: Dependencies) -> AsyncIterator[str]:
    """Serves the service's health page during a block, on ``VARVE_METRICS_PORT``.

    Yields:
        The page's address, without a path.

    Raises:
        OSError: If the port is in use.
    """
    settings = dependencies.settings
    kafka = KafkaProbes(settings=settings, clock_limits_s=dependencies.producer.clock_limits_s)
    readiness = readiness_of(dependencies, kafka)
    probe = ProbeServer(
        host=settings.metrics_host,
        port=settings.metrics_port,
        ready=lambda: {**readiness.checks, **Check.of_background(dependencies.background), **credential_watch().checks()},
        metrics=dependencies.metrics,
    )
    async with kafka, probe:
        address = f"http://{settings.metrics_host}:{probe.port}"
        _log.info("health_page", address=address)
        dependencies.background.add("readiness", readiness.run)
        watch = RedisWatch(redis=dependencies.redis, metrics=dependencies.metrics, tries_writes=False)
        dependencies.background.add("redis", watch.run)
        yield address


def serve(settings: Settings, *, eraser: Eraser | None = None, jobs: Sequence[ServiceJob] = ()) -> None:
    """Serves until SIGTERM or SIGINT, then completes the running requests and returns. Call it in the main thread.

    Args:
        settings: Addresses and limits.
        eraser: Runs erasures. None: this service runs no erasures.
        jobs: Periodic work that one of the services does.

    Raises:
        ModelConfigurationError: If the embedding model cannot be loaded.
        ProfilesError: If the settings' file of ranking profiles is invalid.
        BackgroundWorkError: If background work keeps failing.
        OSError: If the health page's port is in use.
        SystemExit: If the port is in use; the log says so.
    """
    configure_logging(settings.log, stage="service")
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with exporting_spans(settings.tracing, process="service"):
        run_until_signal(_serve(settings, eraser, jobs), loop_factory=uvloop.new_event_loop)


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the process handles signals itself."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield

    def stop(self) -> None:
        """Completes the running requests and ends."""
        self.should_exit = True


async def _serve(settings: Settings, eraser: Eraser | None, jobs: Sequence[ServiceJob]) -> None:
    async with open_dependencies(settings, eraser=eraser, jobs=jobs) as dependencies, health_page(dependencies):
        # A full collection of loaded objects, which stay in memory, would block requests for tens of milliseconds.
        with loading():
            config = _config(settings, dependencies)
        collect_seldom(middle_collections=_MIDDLE_COLLECTIONS)
        server = _Server(config)
        stop_by(server.stop, grace_s=settings.delivery.drain_timeout_s + _CLOSE_S)
        dependencies.background.on_given_up = server.stop
        await server.serve()


def _config(settings: Settings, dependencies: Dependencies) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(settings, open_dependencies=lambda _: contextlib.nullcontext(dependencies)),
        host=settings.service.host,
        port=settings.service.port,
        http=bounded_protocol(settings.service, dependencies.metrics),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=settings.service.idle_timeout_s,
        timeout_graceful_shutdown=int(settings.delivery.drain_timeout_s),
    )
