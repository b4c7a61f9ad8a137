"""The status of each stage: lag, rate, errors."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from socket import AF_INET6, SOCK_STREAM
from typing import Any, Final, NamedTuple, Self
from urllib.parse import urlsplit, urlunsplit

import httpx
from prometheus_client.parser import text_string_to_metric_families

from runtime.kafka import KafkaOffsets
from runtime.kafka.parked_note import ParkedNote
from runtime.settings import Settings
from streams.operations.stage_progress import read_stage_progress
from streams.stages.catalog import STAGES

PROBE_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStatus:
    """A stage's status at one time."""

    name: str
    lag: int
    """Uncommitted records in its topic."""
    parked: ParkedNote
    """Parked records: committed but not processed yet, waiting for their tenants' budgets or schemas."""
    rate: float | None
    """Records committed per second since the last reading; None in the first reading."""
    dead_letters: int | None
    """Records that its worker has dead-lettered since the worker started; None: unknown."""
    retries: int | None
    """Retries by its worker since the worker started; None: unknown."""
    ready: bool | None
    """Result of its worker's readiness probe; None: unknown."""
    oldest_s: float | None
    """Age of the oldest unacknowledged record, in seconds; None: there is none."""
    retention_left_s: float | None
    """Seconds until Kafka may delete an unacknowledged record; None: it deletes none."""
    held_by: str | None
    """The record that holds the oldest partition, as its worker reports; None: unknown, or none."""
    problems: tuple[str, ...] = ()
    """Failed checks of its worker that name a problem, such as an API key that an endpoint refuses."""
    unfinished: str | None = None
    """The interrupted command for which the workers wait; None: there is none."""


class PagesOfStage(NamedTuple):
    """The content of the health pages of a stage's workers."""

    counters: Mapping[str, int] | None
    ready: bool | None
    report: Mapping[str, Any]
    problems: tuple[str, ...]


class StageStatusReader:
    """Reads the status of all stages. Use it as an async context manager.

    Args:
        settings: The settings, with Kafka's address.
        probes: The URL of the health page of each stage's workers. A stage without one has no figures that only its workers know.
    """

    def __init__(self, *, settings: Settings, probes: Mapping[str, str]) -> None:
        self._settings = settings
        self._probes = probes
        self._offsets = KafkaOffsets(kafka=settings.kafka)
        self._http = httpx.AsyncClient(timeout=PROBE_TIMEOUT_S)
        self._last: dict[str, tuple[float, int]] = {}

    async def __aenter__(self) -> Self:
        await self._offsets.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()
        await self._offsets.stop()

    async def read(self) -> list[StageStatus]:
        """The status of each stage, in the order of the pipeline.

        Raises:
            KafkaUnavailableError: If no broker answers.
            TopicMissingError: If the topics have not been created.
        """
        return list(await asyncio.gather(*(self._read(name) for name in STAGES)))

    async def _read(self, name: str) -> StageStatus:
        progress = await read_stage_progress(name, self._offsets, self._settings)
        counters, ready, report, problems = await self._probe(name)
        return StageStatus(
            name=name,
            lag=progress.lag,
            parked=progress.parked,
            rate=self._rate(name, progress.committed),
            dead_letters=None if counters is None else counters.get("varve_dead_letters_total", 0),
            retries=None if counters is None else counters.get("varve_retries_total", 0),
            ready=ready,
            oldest_s=progress.oldest_s,
            retention_left_s=progress.retention_left_s,
            held_by=describe_holder(report),
            problems=problems,
            unfinished=progress.unfinished,
        )

    def _rate(self, name: str, committed: int) -> float | None:
        now = time.monotonic()
        before = self._last.get(name)
        self._last[name] = (now, committed)
        return None if before is None or now <= before[0] else (committed - before[1]) / (now - before[0])

    async def _probe(self, name: str) -> PagesOfStage:
        url = self._probes.get(name)
        if url is None:
            return PagesOfStage(None, None, {}, ())
        return merged_pages(await asyncio.gather(*(self._page(each) for each in await each_address(url))))

    async def _page(self, url: str) -> PagesOfStage | None:
        """The content of one worker's pages; None: it does not answer."""
        try:
            metrics, readiness, report = await asyncio.gather(
                *(self._http.get(f"{url}/{page}") for page in ("metrics", "readyz", "status"))
            )
        except httpx.TransportError:
            return None
        ready = readiness.status_code == httpx.codes.OK
        return PagesOfStage(sum_counters(metrics.text), ready, report.json(), failed_checks(readiness.json()))


def merged_pages(pages: Sequence[PagesOfStage | None]) -> PagesOfStage:
    """The pages of all workers of a stage as one: the stage is ready if each worker is."""
    answered = [each for each in pages if each is not None]
    if not answered:
        return PagesOfStage(None, False, {}, ())
    counters: Counter[str] = Counter()
    for each in answered:
        counters.update(each.counters or {})
    partitions = {number: partition for each in answered for number, partition in each.report.get("partitions", {}).items()}
    problems = dict.fromkeys(problem for each in answered for problem in each.problems)
    return PagesOfStage(
        counters, len(answered) == len(pages) and all(each.ready for each in answered), {"partitions": partitions}, (*problems,)
    )


async def each_address(url: str) -> list[str]:
    """The URL once for each address that its host name has: a name stands for all workers of a stage. None if it has none."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    try:
        found = await asyncio.get_running_loop().getaddrinfo(parts.hostname, parts.port, type=SOCK_STREAM)
    except OSError:
        return []
    hosts = dict.fromkeys(f"[{address[0]}]" if family == AF_INET6 else str(address[0]) for family, _, _, _, address in found)
    return [urlunsplit(parts._replace(netloc=host if parts.port is None else f"{host}:{parts.port}")) for host in hosts]


def failed_checks(readiness: Mapping[str, Any]) -> tuple[str, ...]:
    """The problems that a worker's page ``/readyz`` names, each with its check."""
    checks = readiness.get("checks", {})
    return tuple(
        f"{name}: {each['problem']}" for name, each in checks.items() if isinstance(each, dict) and not each["ok"] and each.get("problem")
    )


def describe_holder(report: Mapping[str, Any]) -> str | None:
    """Describes the record that holds the oldest partition; None if everything delivered is acknowledged.

    Args:
        report: Content of a worker's page ``/status``; empty: unknown.
    """
    held = {number: each for number, each in report.get("partitions", {}).items() if each["held_by"] or each["log_gap"]}
    if not held:
        return None
    number, oldest = max(held.items(), key=lambda each: (bool(each[1]["log_gap"]), each[1]["oldest_s"] or 0.0))
    if oldest["log_gap"]:
        return f"{number}: {oldest['log_gap']}"
    holder = oldest["held_by"]
    tries = f", try {holder['attempts']}" if holder["attempts"] > 1 else ""
    return f"{number}/{holder['offset']}: {holder['tenant'] or '?'}, {holder['state']}{tries}"


def sum_counters(metrics_page: str) -> dict[str, int]:
    """Sums the counters of a metrics page over all labels, by sample name (``varve_retries_total``)."""
    sums: dict[str, int] = {}
    for family in text_string_to_metric_families(metrics_page):
        if family.type != "counter":
            continue
        for sample in family.samples:
            if sample.name.endswith("_total"):
                sums[sample.name] = sums.get(sample.name, 0) + int(sample.value)
    return sums
