"""The canary: its metrics, its rounds, and the process that runs it.

A round sends a fact, waits until a recall finds it, asks for all current facts, and invalidates replaced ones.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from varve_client import Correction, RecallResult, SentMessage, VarveClientError

from runtime.logs import logger
from runtime.metrics import metrics
from runtime.probe import ProbeServer
from runtime.settings import CanarySettings, Settings
from varve.canary.facts import USER, Fact, Facts
from varve.service_client import service_client

_SECONDS: Final = (0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120, 300)


class CanaryMetrics:
    """The canary's metrics.

    Args:
        registry: The registry for the metrics.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.score = Gauge(
            "varve_canary_score",
            "Share of the canary's questions in the last round that were answered with fresh facts.",
            registry=registry,
        )
        self.facts = Counter("varve_canary_facts", "Facts that the canary has sent, by outcome.", ("outcome",), registry=registry)
        self.recalls = Counter("varve_canary_recalls", "Questions about current facts, by outcome.", ("outcome",), registry=registry)
        self.freshness_seconds = Histogram(
            "varve_canary_freshness_seconds",
            "Time from sending a fact to the recall that finds it.",
            registry=registry,
            buckets=_SECONDS,
        )


_log = logger(__name__)

_POLL_S: Final = 0.25
_LIMIT: Final = 20

Outcome = Literal["fresh", "late", "missed", "failed"]
"""Outcome for a fact: found within the goal, found later, not found, or the service refused or did not respond."""


class MemoryService(Protocol):
    """The methods of ``varve_client.AsyncVarveClient`` that the canary uses."""

    async def send(self, messages: Sequence[Mapping[str, Any]]) -> list[SentMessage]:
        """Sends messages."""
        ...

    async def flush(self, session: str | None = None) -> None:
        """Closes a session's window."""
        ...

    async def recall(self, query: str, **options: Any) -> RecallResult:
        """Recalls memories and the user's entities."""
        ...

    async def invalidate(self, memory_id: str, *, reason: str = "") -> Correction:
        """Marks an event as false."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The result of one round."""

    outcome: Outcome
    """Outcome for the new fact."""
    freshness_s: float | None
    """Seconds from sending the fact until a recall found it."""
    asked: int
    """Number of questions for older facts."""
    found: int
    """Number of these questions that were answered."""

    @property
    def score(self) -> float:
        """Freshness and recall as one number in [0, 1]: the share of answered questions; the new fact counts if it was found in time."""
        return (self.found + (self.outcome == "fresh")) / (self.asked + 1)


class Canary:
    """Uses a service as an application does.

    Args:
        service: The service, with a key of the canary's tenant.
        settings: Interval, goal and timeout.
        metrics: Receives the results.
        first: Number of the first fact; greater than the numbers of earlier canaries. Default: from the clock.
    """

    def __init__(self, *, service: MemoryService, settings: CanarySettings, metrics: CanaryMetrics, first: int | None = None) -> None:
        self._service = service
        self._settings = settings
        self._metrics = metrics
        self._facts = Facts(most=settings.facts, first=int(time.time()) if first is None else first)
        self.has_reached_service = False
        """Whether the service accepted the last fact and answered all later questions."""

    async def run(self) -> None:
        """Runs rounds until it is cancelled."""
        while True:
            began = time.monotonic()
            await self.run_round()
            await asyncio.sleep(max(0.0, self._settings.interval_s - (time.monotonic() - began)))

    async def run_round(self) -> Round:
        """Runs one round."""
        done = await self._round()
        self.has_reached_service = done.outcome != "failed"
        self._metrics.score.set(done.score)
        self._metrics.facts.labels(done.outcome).inc()
        self._metrics.recalls.labels("found").inc(done.found)
        self._metrics.recalls.labels("missed").inc(done.asked - done.found)
        if done.freshness_s is not None:
            self._metrics.freshness_seconds.observe(done.freshness_s)
        log = _log.info if done.score == 1 else _log.warning
        log("canary_round", outcome=done.outcome, freshness_s=done.freshness_s, asked=done.asked, found=done.found, score=done.score)
        return done

    async def _round(self) -> Round:
        fact, earlier = self._facts.next(), self._facts.held
        try:
            freshness_s = await self._say(fact)
            found = [each.is_in(await self._ask(each)) for each in earlier]
        except VarveClientError as error:
            _log.warning("canary_failed", error=str(error))
            return Round(outcome="failed", freshness_s=None, asked=len(earlier), found=0)
        outcome: Outcome = "missed" if freshness_s is None else "fresh" if freshness_s <= self._settings.goal_s else "late"
        return Round(outcome=outcome, freshness_s=freshness_s, asked=len(earlier), found=sum(found))

    async def _say(self, fact: Fact) -> float | None:
        """Sends a fact and waits for it; returns the seconds until a recall found it, or None if none did in time."""
        began = time.monotonic()
        await self._service.send([fact.message])
        self.has_reached_service = True
        await self._service.flush(fact.session)
        while True:
            results = await self._ask(fact)
            waited = time.monotonic() - began
            if fact.is_in(results):
                self._facts.hold(fact)
                await self._take_back(results)
                return waited
            if waited > self._settings.timeout_s:
                return None
            await asyncio.sleep(min(_POLL_S, max(0.0, self._settings.timeout_s - waited)))

    async def _ask(self, fact: Fact) -> list[dict[str, Any]]:
        found = await self._service.recall(fact.question, user=USER, limit=_LIMIT)
        # A recall leaves out events that an entity repeats, so the entities are searched, too.
        return [each.as_dict() for each in (*found.results, *found.entities)]

    async def _take_back(self, results: Sequence[dict[str, Any]]) -> None:
        """Invalidates replaced facts, so that the store does not grow."""
        for memory_id in self._facts.stale(results):
            try:
                await self._service.invalidate(memory_id, reason="replaced by a newer fact of the canary")
            except VarveClientError as error:
                # It may be invalidated already; otherwise the next round finds it again.
                _log.info("canary_fact_not_invalidated", memory=memory_id, error=str(error))


async def serve_canary(settings: Settings) -> None:
    """Runs the canary until it is cancelled.

    Raises:
        ServiceError: If there is no API key.
        OSError: If the health page's port is in use.
    """
    # A repeated request would hide that the service was unavailable.
    async with service_client(settings, max_attempts=1) as service:
        canary = Canary(service=service, settings=settings.canary, metrics=CanaryMetrics(metrics().registry))
        ready = ProbeServer(
            host=settings.metrics_host,
            port=settings.metrics_port,
            ready=lambda: {"service_reached": canary.has_reached_service},
            metrics=metrics(),
        )
        async with ready:
            await canary.run()


async def one_round(settings: Settings) -> Round:
    """Runs one round, to check whether Varve remembers.

    Raises:
        ServiceError: If there is no API key.
    """
    async with service_client(settings, max_attempts=settings.client.max_attempts) as service:
        canary = Canary(service=service, settings=settings.canary, metrics=CanaryMetrics(metrics().registry))
        return await canary.run_round()
