"""A whole stack with the console, and the data that its tests look at."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx

from memory.keys import encode_key
from memory.records import Usage
from memory.topics import USAGE
from runtime.kafka import Producer
from runtime.settings import KafkaSettings, Settings
from tests.varve.varve_process import VarveProcess, wait_until
from varve.embedded.stack_file import StackFile

READY_S: Final = 400.0

_Talk = tuple[str, str, tuple[tuple[str, str], ...]]

TALKS: Final[tuple[_Talk, ...]] = (
    (
        "nora",
        "monday",
        (
            ("2024-05-06T18:00:00Z", "Hi! I moved to Bergen last week, and I work as a nurse now."),
            ("2024-05-06T18:01:00Z", "Yes, Pixel sleeps in the window all day. I love rain, luckily."),
            ("2024-05-06T18:02:00Z", "On Friday I go hiking on Ulriken with my sister Lene."),
        ),
    ),
    (
        "nora",
        "june",
        (("2024-06-10T18:00:00Z", "I live in Oslo now."), ("2024-06-10T18:01:00Z", "I started to learn the cello with a teacher.")),
    ),
    (
        "cora",
        "notes",
        (("2024-05-06T18:00:00Z", "I moved to Trondheim in March."), ("2024-05-06T18:01:00Z", "I bought a red bicycle for my brother.")),
    ),
    ("ivan", "false", (("2024-05-06T18:00:00Z", "I sold my blue boat to a neighbour."), ("2024-05-06T18:01:00Z", "I love strong coffee."))),
    ("gone", "secret", (("2024-05-06T18:00:00Z", "I moved to Tromso in April."),)),
)
"""User, session, and the times and texts of the messages."""


@dataclass(frozen=True, slots=True)
class ConsoleStack:
    """Addresses and keys of a running stack."""

    url: str
    operator_key: str
    tenant: str
    tenant_key: str = ""
    """A key of the tenant with every scope."""
    reader_key: str = ""
    """A key of the tenant with the scope `recall` only."""
    graph_key: str = ""
    """A key of another tenant, whose memory method makes links."""

    @property
    def graph_tenant(self) -> str:
        return f"{self.tenant}-graph"

    @property
    def console(self) -> str:
        return f"{self.url}/console"

    def call(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """Sends a request of the HTTP API, and returns the body of its response."""
        response = httpx.request(
            method, self.url + path, json=body, headers={"Authorization": f"Bearer {key or self.tenant_key}"}, timeout=60
        )
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json()

    def memory(self, user: str, word: str) -> dict[str, Any]:
        """The event of a user whose text has a word."""
        page = self.call("GET", f"/v1/memories?user={user}&kinds=event&limit=100")
        return next(each for each in page["memories"] if word in each["content"])

    def talk(self, user: str, session: str, *texts: str, key: str | None = None) -> None:
        """Sends messages of this minute, whose window stays open: it would close after half an hour of silence in event time."""
        start = datetime.now(UTC) - timedelta(minutes=len(texts))
        times = [(start + timedelta(minutes=minute)).isoformat() for minute in range(len(texts))]
        self._send(user, session, tuple(zip(times, texts, strict=True)), key)

    def flush(self, user: str, session: str, *, events: int, key: str | None = None) -> None:
        """Closes the window of a session, and waits until the user has that many events."""
        self.call("POST", "/v1/flush", {"session": session}, key=key)
        self.wait_for_memories(user, events, key=key)

    def wait_for_memories(self, user: str, count: int, *, kind: str = "event", key: str | None = None) -> None:
        def found() -> list[dict[str, Any]]:
            return list(self.call("GET", f"/v1/memories?user={user}&kinds={kind}&limit=100", key=key)["memories"])

        wait_until(lambda: len(found()) >= count, seconds=READY_S, failure=found)

    def _send(self, user: str, session: str, messages: tuple[tuple[str, str], ...], key: str | None = None) -> None:
        body = [
            {"user": user, "session": session, "id": f"m{number}", "speaker": user.title(), "text": text, "event_time": time}
            for number, (time, text) in enumerate(messages, start=1)
        ]
        self.call("POST", "/v1/messages", body, key=key)

    def _link(self, *notes: str) -> None:
        """Sends notes of the graph's tenant. A link needs an indexed note, so each one waits until the one before can be found."""
        for number, note in enumerate(notes, start=1):
            self.talk("ann", f"links-{number}", note, key=self.graph_key)
            self.call("POST", "/v1/flush", {"session": f"links-{number}"}, key=self.graph_key)
            self.wait_for_memories("ann", number, kind="entity", key=self.graph_key)

    def seed(self) -> None:
        """Sends the conversations, and waits until they are memories; leaves a window open, and starts a re-extraction."""
        for user, session, messages in TALKS:
            self._send(user, session, messages)
            self.call("POST", "/v1/flush", {"session": session})
        self.talk("nora", "today", "Tomorrow I will visit Lene in Bergen.")
        self.talk("lena", "letters", "I play chess on Sundays.")
        for user in ("nora", "cora", "ivan", "gone"):
            self.wait_for_memories(user, sum(len(messages) for name, _, messages in TALKS if name == user) - 1)
        self._link("I walk my dog Bruno in the park.", "Bruno is a brown dog.", "My dog Bruno likes the park in the rain.")

        def links() -> list[dict[str, Any]]:
            return list(self.call("GET", "/v1/links", key=self.graph_key)["nodes"])

        wait_until(lambda: any("brown dog" in each["content"] for each in links()), seconds=READY_S, failure=links)
        # Without a worker.
        body = {"generation": "again", "tenants": [self.graph_tenant], "budget_tokens": 5_000, "confirmed": True}
        self.call("POST", "/v1/admin/reextractions", body, key=self.operator_key)


@contextmanager
def console_stack(folder: Path) -> Iterator[ConsoleStack]:
    """A running stack with its own tenants and data.

    Args:
        folder: The data of the stack. A stack that runs on this folder already is used, and left running.
    """
    if StackFile.find(folder) is not None:
        yield _seeded(folder)
        return
    # Webhooks that fail at once, on this machine.
    environment = {"VARVE_WEBHOOKS__ALLOW_PRIVATE": "true", "VARVE_WEBHOOKS__ATTEMPTS": "1"}
    with VarveProcess("dev", "--data", str(folder), output=folder.parent / "stack.log", environment=environment) as process:
        process.wait_for_output("all parts are ready", seconds=READY_S)
        yield _seeded(folder)
        process.process.terminate()
        process.process.wait(60)


def _seeded(folder: Path) -> ConsoleStack:
    found = StackFile.find(folder)
    assert found is not None
    operator_key = _command("operators", "add", "--label", "on-call", "--data", str(folder)).split()[0]
    bare = ConsoleStack(found.service_url, operator_key, f"acme-{uuid4().hex[:6]}")
    for tenant, method in ((bare.tenant, None), (bare.graph_tenant, "amem")):
        bare.call("POST", "/v1/admin/tenants?settle=true", {"id": tenant, "schema": "companion", "method": method}, key=operator_key)
    stack = replace(
        bare,
        tenant_key=_new_key(bare, bare.tenant, "backend", ["ingest", "recall", "correct", "erase", "operate"]),
        reader_key=_new_key(bare, bare.tenant, "reader", ["recall"]),
        graph_key=_new_key(bare, bare.graph_tenant, "graph", ["ingest", "recall"]),
    )
    stack.seed()
    asyncio.run(_write_usage(found, stack))
    return stack


def _command(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "varve", *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _new_key(stack: ConsoleStack, tenant: str, label: str, scopes: list[str]) -> str:
    body = {"tenant": tenant, "label": label, "scopes": scopes}
    return str(stack.call("POST", "/v1/admin/keys?settle=true", body, key=stack.operator_key)["key"])


async def _write_usage(addresses: StackFile, stack: ConsoleStack) -> None:
    """Writes model calls of two days: this stack has no model that could make them."""
    now = datetime.now(UTC)
    calls = [
        Usage(
            tenant=tenant,
            stage=stage,
            model=model,
            purpose=purpose,
            prompt_tokens=tokens,
            cached_tokens=tokens // 2,
            completion_tokens=tokens // 10,
            latency_ms=900,
            time=now - timedelta(days=days),
        )
        for tenant, stage, model, purpose, tokens, days in (
            (stack.tenant, "extraction", "large-model", "extraction", 40_000, 0),
            (stack.tenant, "merging", "small-model", "merging", 9_000, 0),
            (stack.graph_tenant, "extraction", "small-model", "extraction", 12_000, 0),
            (stack.tenant, "extraction", "large-model", "extraction", 30_000, 1),
        )
    ]
    kafka = KafkaSettings(
        bootstrap=addresses.bootstrap, replication_factor=addresses.replication_factor, min_insync_replicas=addresses.min_insync_replicas
    )
    topic = Settings(kafka=kafka).topic(USAGE.name)
    async with Producer(kafka=kafka) as producer:
        for call in calls:
            await producer.send(topic, key=encode_key(call.tenant), value=call.to_json())
