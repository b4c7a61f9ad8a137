"""``python -m benchmarks.tenants``: cost of many tenants.

For a few and for many tenants of 200 users each, on Kafka, Redis, the Edge store, the service and a worker of the sessions stage as real
processes: how long the control log takes to be written and read, the memory of each process, metrics, Redis' keys, and a small tenant's
recalls without and with the flood of another one. Writes ``build/reports/tenants.json``.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import aiohttp
from redis.asyncio import Redis

from benchmarks.callers import Service
from benchmarks.processes import resident_bytes
from benchmarks.reads import fairness
from benchmarks.reports import benchmark_parser, write_report
from benchmarks.service import running_service
from benchmarks.stream.load import Record, fill
from benchmarks.stream.stage import stage_worker
from evaluation.bench_recall import RandomData
from memory.keys import encode_key
from memory.records import Message
from runtime.settings import Settings

_USERS: Final = 200
_MEMORIES_PER_TENANT: Final = 20
_MESSAGES: Final = 20_000
"""Messages of all tenants together, whatever their number."""
_CALLERS: Final = 16
_TIMEOUT_S: Final = 300.0
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


async def measured(folder: Path, *, tenants: int, seconds: float, rounds: int, flood: int) -> dict[str, object]:
    """Measures one number of tenants.

    Args:
        folder: The folder for all data; its path must be short.
        tenants: Number of tenants.
        seconds: Length of each turn of the small tenant, without and with the flood.
        rounds: Pairs of turns.
        flood: Number of callers that flood.
    """
    data = RandomData(seed=1, tenants=tenants, users=_USERS)
    async with running_service(folder, points=_MEMORIES_PER_TENANT, tenants=tenants, with_keys=tenants, data=data) as service:
        started = {name: resident_bytes(pid) for name, pid in service.pids.items()}
        seconds_of_recalls = await one_recall_each(service)
        fair = await fairness(service, callers=flood, seconds=seconds, rounds=rounds)
        report: dict[str, object] = {
            "control_log": {"written_s": service.seconds["control"], "service_ready_s": service.seconds["service"]},
            "metrics": await _metrics(service),
            "recalls_a_second_over_all_tenants": round(tenants / seconds_of_recalls, 1),
            "small_tenant_with_a_flood": fair,
            "redis": await _redis(service.settings),
            "sessions_worker": await sessions_worker(service.settings, tenants=tenants),
        }
        after = {name: resident_bytes(pid) for name, pid in service.pids.items()}
    report["resident_mb"] = {name: {"started": _mb(started[name]), "after": _mb(after[name])} for name in after}
    return report


async def one_recall_each(service: Service) -> float:
    """Sends one recall of each tenant, a few at once: caches and limits of all tenants are in use then. Returns the seconds."""
    waiting = iter(service.keys.items())

    async def ask(http: aiohttp.ClientSession) -> None:
        for tenant, key in waiting:
            headers, body = {"Authorization": f"Bearer {key}"}, {"query": f"what does {tenant} say", "user": "user-0"}
            async with http.post(f"{service.url}/v1/recall", json=body, headers=headers) as response:
                response.raise_for_status()
                await response.read()

    began = time.perf_counter()
    async with aiohttp.ClientSession() as http, asyncio.TaskGroup() as asking:
        for _ in range(_CALLERS):
            asking.create_task(ask(http))
    return time.perf_counter() - began


async def sessions_worker(settings: Settings, *, tenants: int) -> dict[str, object]:
    """Starts a worker of the sessions stage and gives it messages of all tenants in turn."""
    began = time.perf_counter()
    async with stage_worker("sessions", settings) as worker:
        ready = time.perf_counter()
        idle = worker.resource_usage()
        await fill(settings.topic("messages"), messages(tenants), settings)
        sent = time.perf_counter()
        await worker.wait_until_done(_MESSAGES, timeout_s=_TIMEOUT_S)
        done, used = time.perf_counter(), worker.resource_usage()
    return {
        "ready_s": round(ready - began, 2),
        "idle_mb": round(idle.resident_mb, 1),
        "messages_a_second": round(_MESSAGES / (done - ready), 1),
        "sent_s": round(sent - ready, 2),
        "cpu_us_per_message": round((used.cpu_seconds - idle.cpu_seconds) / _MESSAGES * 1e6, 1),
        "after_mb": round(used.resident_mb, 1),
    }


def messages(tenants: int) -> Iterator[Record]:
    """Messages of all tenants in turn, each user in its own session."""
    for number in range(_MESSAGES):
        turn, tenant = divmod(number, tenants)
        name, user = f"tenant-{tenant}", f"user-{turn % _USERS}"
        message = Message(
            tenant=name,
            user=user,
            session=f"s-{user}",
            id=f"{number:08d}",
            text="the trains to the coast run every hour until the lights go out",
            event_time=_START + timedelta(seconds=turn),
        )
        yield encode_key(name, message.session), message.to_json()


async def _metrics(service: Service) -> dict[str, object]:
    async with aiohttp.ClientSession() as http:
        began = time.perf_counter()
        async with http.get(f"{service.health_url}/metrics") as response:
            response.raise_for_status()
            text = await response.text()
        return {"bytes": len(text), "lines": text.count("\n"), "ms": round((time.perf_counter() - began) * 1000, 1)}


async def _redis(settings: Settings) -> dict[str, object]:
    async with Redis.from_url(settings.redis.url) as redis:
        keys, memory = await redis.dbsize(), await redis.info("memory")
    return {"keys": keys, "mb": _mb(memory["used_memory"])}


def _mb(size: int) -> float:
    return round(size / 1e6, 1)


async def run(arguments: argparse.Namespace) -> dict[str, object]:
    """Measures each number of tenants on its own servers."""
    report: dict[str, object] = {}
    for tenants in arguments.tenants:
        with tempfile.TemporaryDirectory(prefix="varve-") as folder:
            report[str(tenants)] = await measured(
                Path(folder), tenants=tenants, seconds=arguments.seconds, rounds=arguments.rounds, flood=arguments.flood
            )
        print(json.dumps({tenants: report[str(tenants)]}), flush=True)
    return report


def main() -> None:
    """Measures, prints and writes the report."""
    parser = benchmark_parser("tenants", __doc__)
    parser.add_argument("--tenants", type=int, nargs="*", default=[50, 5000], help="numbers of tenants")
    parser.add_argument("--seconds", type=float, default=8.0, help="length of each turn of the small tenant")
    parser.add_argument("--rounds", type=int, default=2, help="pairs of turns without and with the flood")
    parser.add_argument("--flood", type=int, default=50, help="callers of the flood")
    arguments = parser.parse_args()
    write_report(arguments.report, asyncio.run(run(arguments)))


if __name__ == "__main__":
    main()
