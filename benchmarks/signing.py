"""``python -m benchmarks.signing``: the cost of verifying a message's sender, next to the rest of the sessions stage's work.

Handles the same messages with no master secret, with Varve's seal, and with a producer's signature, in rounds one after the other. No
broker: the handler alone, on a table in memory. Prints a line for each and for each length of the messages.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Final

from pydantic import SecretStr

from control import ControlState, Draft
from control.tenant_changes import add_tenant, change_signing
from control.tenants import TenantDirectory
from control.view import FixedControlView
from memory.keys import encode_key
from memory.records import Message
from memory.signatures import sign
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.seals import Keyring
from runtime.settings import KafkaSettings, Settings, SigningSettings
from runtime.tracing import Headers
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import PartitionState
from streams.engine.tasks.batch import Batch
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler

_SECRET: Final = "benchmark" * 4
_ROUNDS: Final = 7
_MESSAGES: Final = 4000
_SESSIONS: Final = 40
_APPENDED_AT: Final = datetime(2025, 1, 1, tzinfo=UTC)

_Mark = Callable[[OutgoingRecord], Headers]


class _NoRows:
    """An empty local table."""

    changelog_offset = -1

    def read(self, key: bytes) -> bytes | None:
        return None

    def scan(self) -> list[tuple[bytes, bytes]]:
        return []


def main() -> None:
    """Measures and prints microseconds per message."""
    argparse.ArgumentParser(prog="python -m benchmarks.signing", description=__doc__).parse_args()
    keyring = Keyring([_SECRET])
    now_ms = int(_APPENDED_AT.timestamp() * 1000)
    key = keyring.message_key("acme", "k1")
    marks: dict[str, tuple[bool, _Mark]] = {
        "no master secret": (False, lambda record: ()),
        "sealed": (True, lambda record: keyring.sealed(record, now_ms=now_ms).headers),
        "signed": (True, lambda record: (sign(record.value or b"", key_id="k1", key=key, now_ms=now_ms),)),
    }
    with tempfile.TemporaryDirectory() as folder:
        for size in (100, 1000, 10_000):
            seconds: dict[str, list[float]] = {name: [] for name in marks}
            for _ in range(_ROUNDS):
                for name, (has_secret, mark) in marks.items():
                    seconds[name].append(asyncio.run(_round(Path(folder) / name.replace(" ", "-"), size, mark, has_secret=has_secret)))
            base = median(seconds["no master secret"])
            for name, each in seconds.items():
                cost = median(each)
                print(f"{size:>6} characters  {name:<17} {cost / _MESSAGES * 1e6:7.1f} µs a message  {cost / base:5.2f} times")


async def _round(data: Path, size: int, mark: _Mark, *, has_secret: bool) -> float:
    signing = SigningSettings(secret=SecretStr(_SECRET) if has_secret else None)
    settings = Settings(_env_file=None, data=data, kafka=KafkaSettings(partitions=1), signing=signing)
    draft = Draft(ControlState())
    add_tenant(draft, "acme", schema="companion")
    if has_secret:
        change_signing(draft, "acme", now=_APPENDED_AT, required=True, add="k1")
    known = ControlState()
    known.put(change.after for change in draft.changes())
    handler = SessionsHandler(
        partition=0, settings=settings, tenants=TenantDirectory(FixedControlView(known)), tail=None, metrics=Metrics()
    )
    records = [_record(number, size, mark) for number in range(_MESSAGES)]
    state: PartitionState[object] = PartitionState(_NoRows(), SessionCodec(), cache_bytes=100_000_000)  # type: ignore[arg-type]
    started = time.perf_counter()
    for first in range(0, _MESSAGES, 500):
        batch = Batch(0, records[first : first + 500], state, _APPENDED_AT)
        await handler.handle(batch)
        if batch.rejections:
            raise RuntimeError(f"refused: {batch.rejections[0].detail}")
    return time.perf_counter() - started


def _record(number: int, size: int, mark: _Mark) -> ConsumedRecord:
    session = f"s{number % _SESSIONS}"
    said_at = _APPENDED_AT - timedelta(days=1) + timedelta(seconds=number)
    value = Message(tenant="acme", user="ada", session=session, id=f"m{number}", text="word " * (size // 5), event_time=said_at).to_json()
    key = encode_key("acme", session)
    headers = mark(OutgoingRecord("varve.messages", key, value))
    return ConsumedRecord("varve.messages", 0, number, key, value, headers, _APPENDED_AT.timestamp())


if __name__ == "__main__":
    main()
