"""Extractions of agents' windows, as test data."""

from datetime import UTC, datetime, timedelta

from memory.ids import event_id, window_id
from memory.keys import encode_key
from memory.records import Event, Extraction
from runtime.tracing import Headers
from streams.engine.records import ConsumedRecord
from tests.streams.harness import delivered

TENANT = "acme"
SCHEMA = "agent_tools"
START = datetime(2024, 5, 1, tzinfo=UTC)

Call = tuple[str, int]
"""A tool's name, and 1 where the call failed, else 0."""


def extraction(window: int, calls: list[Call], *, tenant: str = TENANT, generation: str = "", drops: int = 0) -> Extraction:
    """The extraction of an agent's window: one tool_use event per call."""
    name = window_id(tenant, "s1", window)
    said_at = START + timedelta(minutes=window)
    events = [
        Event(
            id=event_id(name, index, generation),
            tenant=tenant,
            user="agent",
            session="s1",
            window_id=name,
            type="tool_use",
            content=f"used {tool}",
            properties={"tool_name": tool, "failure": failure},
            event_time=said_at,
            said_at=said_at,
            message_ids=[f"m{window}-{index}"],
            extractor="offline",
        )
        for index, (tool, failure) in enumerate(calls)
    ]
    return Extraction(
        window_id=name,
        tenant=tenant,
        user="agent",
        session="s1",
        sequence=window,
        generation=generation,
        drops=drops,
        extractor="offline",
        schema_name=SCHEMA,
        message_ids=[f"m{window}-{index}" for index in range(len(calls))],
        events=events,
        window_end=said_at,
    )


def extraction_record(what: Extraction, offset: int, *, headers: Headers = (), partition: int = 0) -> ConsumedRecord:
    return delivered("extractions", offset, encode_key(what.tenant, what.user), what.to_json(), headers=headers, partition=partition)
