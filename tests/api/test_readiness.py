"""Readiness: background checks, each dependency independently, and the response when the checks stop."""

import asyncio
from typing import NoReturn

import httpx

from api.serve import Probe, Readiness
from runtime.errors import KafkaUnavailableError
from runtime.metrics import Metrics
from runtime.probe import Check, ProbeServer
from runtime.settings import ServiceSettings

SETTINGS = ServiceSettings(probe_interval_s=5, probe_timeout_s=0.05)


async def answers() -> None:
    pass


async def is_unavailable() -> NoReturn:
    raise KafkaUnavailableError("no broker answers")


async def is_broken() -> NoReturn:
    raise RuntimeError("unforeseen")


async def hangs() -> None:
    await asyncio.Event().wait()


async def test_each_dependency_is_judged_for_itself() -> None:
    readiness = Readiness(
        probes={
            "kafka": Probe(ask=is_unavailable),
            "store": Probe(ask=hangs),
            "redis": Probe(ask=answers, needed=False),
            "embedder": Probe(ask=is_broken),
        },
        settings=SETTINGS,
    )
    assert not any(check.ok for check in readiness.checks.values())
    await readiness.ask_all()
    assert readiness.checks == {
        "kafka": Check(ok=False, problem="no broker answers"),
        "store": Check(ok=False, problem="no answer in 0.05 s"),
        "redis": Check(ok=True, needed=False),
        "embedder": Check(ok=False, problem="RuntimeError"),
    }


async def test_a_recovered_dependency_becomes_ready() -> None:
    is_back = False
    looks: asyncio.Queue[None] = asyncio.Queue()

    async def away_until_back() -> None:
        looks.put_nowait(None)
        if not is_back:
            raise KafkaUnavailableError("no broker answers")

    async def whole_round() -> None:
        """Ends when the second look from now has begun: what the first found is known then."""
        await looks.get()
        await looks.get()

    readiness = Readiness(probes={"kafka": Probe(ask=away_until_back)}, settings=ServiceSettings(probe_interval_s=0.01))
    rounds = asyncio.create_task(readiness.run())
    async with asyncio.timeout(60):
        await whole_round()
        assert readiness.checks["kafka"].problem == "no broker answers"
        is_back = True
        await whole_round()
        assert readiness.checks["kafka"].ok
    rounds.cancel()


async def test_rounds_that_stopped_make_it_not_ready() -> None:
    now = 100.0
    readiness = Readiness(probes={"store": Probe(ask=answers)}, settings=SETTINGS, clock=lambda: now)
    await readiness.ask_all()
    now += 15
    assert all(check.ok for check in readiness.checks.values())
    now += 1
    assert readiness.checks["fresh"] == Check(ok=False, problem="the last look at the dependencies was 16 s ago")


async def test_readiness_requests_start_no_checks() -> None:
    looks = 0

    async def look() -> None:
        nonlocal looks
        looks += 1

    readiness = Readiness(probes={"store": Probe(ask=look)}, settings=SETTINGS)
    await readiness.ask_all()
    async with (
        ProbeServer(host="127.0.0.1", port=0, ready=lambda: readiness.checks, metrics=Metrics()) as page,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{page.port}") as http,
    ):
        answers = await asyncio.gather(*(http.get("/readyz") for _ in range(100)))
    assert {answer.status_code for answer in answers} == {200}
    assert looks == 1
