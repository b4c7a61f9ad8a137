"""``python -m benchmarks.ingest``: rates at which messages are accepted and become searchable, on the whole embedded stack, offline.

The same run first measures the embedding model alone on the same texts, before the stack starts. This is the upper bound of any ingestion
on this machine that passes each text through the model once. In the stack, several processes embed.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import psutil
from varve_client import AsyncVarveClient

from benchmarks.freshness import freshness_of
from benchmarks.processes import POLL_S, cpu_seconds
from benchmarks.reports import benchmark_parser, p50, p95, write_report
from evaluation.locomo import read_locomo
from models.embedding.build import build_embedder
from runtime.settings import Settings
from stores.edge.client import EdgeStore
from stores.port import TenantScope
from varve.embedded.lifecycle import temporary_stack
from varve.service_client import service_client

TENANT: Final = "bench"
_QUIET_S: Final = 5.0
"""The index is complete once it has not grown for this time, which does not count."""
_TIMEOUT_S: Final = 600.0
_TELLING_CHARACTERS: Final = 80
"""Fewest characters of a message that the extractor certainly stores."""
_SETTLE_S: Final = 5.0
"""Time in which a stack that has just started becomes idle."""
_RECALL_S: Final = 2.0
"""Pause between two recalls that look for a message: each is work for the stack."""
_BATCH: Final = 256
_USERS: Final = 10
_TURNS_OF_SESSION: Final = 25
_START: Final = datetime(2024, 1, 1, 9, tzinfo=UTC)
_NAMES: Final = ("Hannah", "Priya", "Marek", "Amina", "Joel", "Sofia", "Tomas", "Wen")
_DEEDS: Final = (
    "moved to",
    "flew to",
    "came back from",
    "bought a flat in",
    "opened a bakery in",
    "ran the marathon of",
    "painted the harbour of",
)
_PLACES: Final = ("Oslo", "Lisbon", "Accra", "Kyoto", "Valparaiso", "Tbilisi", "Galway", "Hanoi", "Ljubljana")

Fields = dict[str, Any]


def generated_messages(count: int) -> list[Fields]:
    """Generated turns of a few users, each with a different text, in sessions of a day."""
    messages = []
    for number in range(count):
        turn, user = divmod(number, _USERS)
        day, minute = divmod(turn, _TURNS_OF_SESSION)
        name, deed, place = _NAMES[turn % len(_NAMES)], _DEEDS[number % len(_DEEDS)], _PLACES[(turn + user) % len(_PLACES)]
        messages.append(
            {
                "user": f"user-{user}",
                "session": f"user-{user}-day-{day}",
                "id": f"m{number:06d}",
                "role": "user",
                "text": f"My friend {name} {deed} {place} on the {1 + day % 28}th, and I promised to bring {number} postcards along.",
                "event_time": (_START + timedelta(days=day, minutes=minute)).isoformat(),
            }
        )
    return messages


def locomo_messages(path: Path) -> list[Fields]:
    """The turns of LoCoMo's conversations, each conversation a user.

    Raises:
        DataSetError: If the file cannot be read.
        ConversationError: If it has another form.
    """
    messages = (message for conversation in read_locomo(path) for each in conversation for message in each.window.messages)
    return [
        {
            "user": each.user,
            "session": f"{each.user}-{each.session}",
            "id": f"{each.user}-{each.id}",
            "role": each.role,
            "speaker": each.speaker,
            "text": each.text,
            "event_time": each.event_time.isoformat(),
        }
        for each in messages
        if each.text
    ]


async def ingest(folder: Path, messages: Sequence[Fields], *, fresh: int, idle_s: float) -> dict[str, Any]:
    """Measures the idle stack, sends all messages, closes their windows, and waits until the index no longer grows; then single messages.

    Args:
        folder: The folder for the stack's data.
        messages: The messages, in the order of sending.
        fresh: Number of messages whose freshness is measured.
        idle_s: Seconds for which the stack is measured before the first message; 0: not at all.

    Returns:
        Rates in messages a second, the computing time of each process, also while it is idle, freshness in milliseconds, and the machine's
        load, one minute's mean, before and after.

    Raises:
        TimeoutError: If the index does not stop growing.
    """
    load_before = psutil.getloadavg()[0]
    embedded_per_second = len(messages) / await _embedding_s([str(each["text"]) for each in messages])
    async with temporary_stack(folder, tenant=TENANT) as running, service_client(running.settings) as service:
        store = EdgeStore(path=running.settings.edge_socket, timeout_s=60)
        try:
            pids = {each.name: each.pid for each in running.supervisor.programs if each.pid is not None}
            idle_ms = await _idle_ms({**pids, "supervisor": os.getpid()}, idle_s) if idle_s else {}
            cpu_before = cpu_seconds(pids)
            started = time.monotonic()
            for start in range(0, len(messages), _BATCH):
                await service.send(messages[start : start + _BATCH])
            accepted_s = time.monotonic() - started
            await service.flush()
            recalled = asyncio.create_task(until_recalled(service, messages, started))
            searchable_s, memories = await until_quiet(store, started, recalled)
            cpu_s = {name: after - cpu_before[name] for name, after in cpu_seconds(pids).items()}
            waits = await freshness_of(service, messages=fresh)
        finally:
            await store.close()
    searchable_per_second = len(messages) / searchable_s
    return {
        "messages": len(messages),
        "memories": memories,
        "accepted_per_second": round(len(messages) / accepted_s, 1),
        "searchable_per_second": round(searchable_per_second, 1),
        "embedding_alone_per_second": round(embedded_per_second, 1),
        "ratio_to_embedding_alone": round(searchable_per_second / embedded_per_second, 3),
        "cpu_ms_per_message": {name: round(each / len(messages) * 1000, 3) for name, each in sorted(cpu_s.items())},
        "idle_cpu_ms_per_second": idle_ms,
        "freshness_p50_ms": p50(waits, 1),
        "freshness_p95_ms": p95(waits, 1),
        "load_before": round(load_before, 2),
        "load_after": round(psutil.getloadavg()[0], 2),
    }


async def _idle_ms(pids: Mapping[str, int], seconds: float) -> dict[str, float]:
    """Milliseconds of computing time that each process takes in a second without messages, once it has started."""
    await asyncio.sleep(_SETTLE_S)
    before = cpu_seconds(pids)
    await asyncio.sleep(seconds)
    return {name: round((after - before[name]) / seconds * 1000, 1) for name, after in sorted(cpu_seconds(pids).items())}


async def _embedding_s(texts: Sequence[str]) -> float:
    """Seconds that the model takes for all texts, with a stage's number of threads."""
    settings = Settings()
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    try:
        await embedder.embed_documents([f"warm-up {number}" for number in range(_BATCH)])
        started = time.monotonic()
        for start in range(0, len(texts), _BATCH):
            await embedder.embed_documents(list(texts[start : start + _BATCH]))
        return time.monotonic() - started
    finally:
        await embedder.close()


async def until_recalled(service: AsyncVarveClient, messages: Sequence[Fields], started: float) -> None:
    """Waits until each user's last message of some length is found: an idle stage may not have finished."""
    last = {str(each["user"]): each for each in messages if len(str(each["text"])) >= _TELLING_CHARACTERS}
    for user, message in last.items():
        while not any(message["id"] in str(result.evidence) for result in (await service.recall(message["text"], user=user)).results):
            if time.monotonic() - started > _TIMEOUT_S:
                raise TimeoutError(f"message {message['id']} is not recalled after {_TIMEOUT_S:g} s")
            await asyncio.sleep(_RECALL_S)


async def until_quiet(store: EdgeStore, started: float, recalled: "asyncio.Task[None]") -> tuple[float, int]:
    """The seconds until the index grew last, once the last messages are recalled, and how many memories it then had."""
    memories, grown, quiet_since = 0, started, time.monotonic()
    while time.monotonic() - quiet_since < _QUIET_S:
        if time.monotonic() - started > _TIMEOUT_S:
            raise TimeoutError(f"the index still grows after {_TIMEOUT_S:g} s: it has {memories} memories")
        now = await store.count(TenantScope(TENANT))
        if now != memories:
            memories, grown = now, time.monotonic()
        quiet_since = max(quiet_since, grown) if recalled.done() else time.monotonic()
        await asyncio.sleep(POLL_S)
    await recalled
    return grown - started, memories


def main() -> None:
    """Measures, prints and writes the report."""
    parser = benchmark_parser("ingest", __doc__)
    parser.add_argument("--data", type=Path, help="LoCoMo's file, or a part of it. Default: generated messages")
    parser.add_argument("--messages", type=int, default=3000, help="number of generated messages")
    parser.add_argument("--fresh", type=int, default=20, help="number of messages, sent afterwards, whose freshness is measured")
    parser.add_argument("--idle", type=float, default=20.0, help="seconds for which the idle stack is measured before; 0: not at all")
    arguments = parser.parse_args()
    messages = generated_messages(arguments.messages) if arguments.data is None else locomo_messages(arguments.data)
    with tempfile.TemporaryDirectory(prefix="varve-bench-") as folder:
        results = asyncio.run(ingest(Path(folder), messages, fresh=arguments.fresh, idle_s=arguments.idle))
    write_report(arguments.report, {"data": "made up" if arguments.data is None else arguments.data.name, **results})


if __name__ == "__main__":
    main()
