"""The latency of small tenants while another floods: waiting times for an extraction with model calls of two seconds."""

import asyncio
import time
from pathlib import Path
from typing import Final

import orjson
from aiokafka import AIOKafkaProducer

from benchmarks.reports import p50, p95
from benchmarks.stream.load import SCHEMA, windows
from benchmarks.stream.stage import isolated_settings, simulated_model, stage_worker
from memory.keys import encode_key, partition_of
from runtime.kafka import client_options, read_topic
from runtime.settings import Settings

_CALL_S: Final = 2.0
_SMALL_TENANTS: Final = ("ann", "ben", "cleo", "dora")
_FLOOD: Final = "flood"
_FLOOD_FACTOR: Final = 50
_LAST_WINDOW_TIMEOUT_S: Final = 60.0


async def fairness(base: Settings, folder: Path, *, seconds: float, rate: float, backlog: int) -> dict[str, object]:
    """Runs the extraction stage twice, with the same load of four small tenants: alone, and with a fifth that floods.

    Args:
        base: The settings with the addresses of Kafka and Redis.
        folder: The folder for the stage's data.
        seconds: Duration of the load.
        rate: Windows per second of each small tenant; the flood's is fifty times that.
        backlog: Windows of the flood that precede all others.

    Returns:
        The others' latency from the window produced to its extraction produced, by the records' timestamps, without and with the flood,
        and ``p95_ratio`` of the two.
    """
    alone = await _latencies(base, folder, seconds=seconds, rates=dict.fromkeys(_SMALL_TENANTS, rate), backlog=0)
    flooded = await _latencies(
        base, folder, seconds=seconds, rates={**dict.fromkeys(_SMALL_TENANTS, rate), _FLOOD: rate * _FLOOD_FACTOR}, backlog=backlog
    )
    before, during = _latency_summary(alone), _latency_summary(flooded)
    return {
        "p95_ratio": round(during["p95_s"] / before["p95_s"], 3),
        "without_flood": before,
        "with_flood": during,
        "extracted_of_flood": sum(latency is not None for latency in flooded[_FLOOD]),
        "produced_of_flood": len(flooded[_FLOOD]),
        "call_s": _CALL_S,
        "rate_of_others": rate,
        "seconds": seconds,
    }


async def _latencies(
    base: Settings, folder: Path, *, seconds: float, rates: dict[str, float], backlog: int
) -> dict[str, list[float | None]]:
    """Each tenant's latencies in seconds; None: not extracted within a minute after the last window."""
    settings = await isolated_settings(base, folder, **dict.fromkeys((*_SMALL_TENANTS, _FLOOD), SCHEMA))
    async with simulated_model(settings, call_s=_CALL_S) as environment, stage_worker("extraction", settings, **environment):
        sender = _Sender(settings)
        await sender.start()
        try:
            await sender.send_backlog(backlog)
            await asyncio.gather(*(sender.send_at_rate(tenant, rate=rate, seconds=seconds) for tenant, rate in rates.items()))
        finally:
            await sender.stop()
        return await _wait_for_extractions(sender.produced, settings)


async def _wait_for_extractions(produced: dict[str, dict[str, float]], settings: Settings) -> dict[str, list[float | None]]:
    deadline = time.monotonic() + _LAST_WINDOW_TIMEOUT_S
    expected = {window for tenant in _SMALL_TENANTS for window in produced.get(tenant, {})}
    while True:
        extracted: dict[str, float] = {}
        async for record in read_topic(settings.topic("extractions"), settings.kafka):
            extracted.setdefault(orjson.loads(record.value or b"")["window_id"], record.timestamp / 1000)
        if expected <= extracted.keys() or time.monotonic() > deadline:
            return {
                tenant: [extracted[window] - sent if window in extracted else None for window, sent in windows.items()]
                for tenant, windows in produced.items()
            }
        await asyncio.sleep(1)


def _latency_summary(latencies: dict[str, list[float | None]]) -> dict[str, float]:
    """Summary of the small tenants' latencies. A window without an extraction counts with the whole time-out."""
    waits = [_LAST_WINDOW_TIMEOUT_S if latency is None else latency for tenant in _SMALL_TENANTS for latency in latencies[tenant]]
    return {
        "windows": len(waits),
        "p50_s": p50(waits, 3),
        "p95_s": p95(waits, 3),
        "longest_s": round(max(waits), 3),
    }


class _Sender:
    """Produces windows, and keeps the time of each."""

    def __init__(self, settings: Settings) -> None:
        self.produced: dict[str, dict[str, float]] = {}
        """By tenant, the windows with the time of each, in seconds since the epoch."""
        self._topic = settings.topic("windows")
        self._partitions = settings.kafka.partitions
        self._producer = AIOKafkaProducer(**client_options(settings.kafka), linger_ms=5)
        self._windows = {tenant: windows(tenant) for tenant in (*_SMALL_TENANTS, _FLOOD)}

    async def start(self) -> None:
        await self._producer.start()

    async def stop(self) -> None:
        await self._producer.stop()

    async def send_backlog(self, number: int) -> None:
        for _ in range(number):
            await self._send(_FLOOD)
        await self._producer.flush()

    async def send_at_rate(self, tenant: str, *, rate: float, seconds: float) -> None:
        """Produces windows at an even rate.

        Args:
            tenant: The tenant.
            rate: Windows per second.
            seconds: Duration.
        """
        loop = asyncio.get_running_loop()
        # Tenants of one rate must not send at the same instants: their calls would queue one after the other.
        start = loop.time() + (_SMALL_TENANTS.index(tenant) / len(_SMALL_TENANTS) / rate if tenant in _SMALL_TENANTS else 0.0)
        for number in range(int(rate * seconds)):
            await asyncio.sleep(max(0.0, start + number / rate - loop.time()))
            await self._send(tenant)

    async def _send(self, tenant: str) -> None:
        window = next(self._windows[tenant])
        key = encode_key(tenant, window.session)
        now = time.time()
        self.produced.setdefault(tenant, {})[window.id] = now
        await self._producer.send(
            self._topic, window.to_json(), key=key, partition=partition_of(key, self._partitions), timestamp_ms=int(now * 1000)
        )
