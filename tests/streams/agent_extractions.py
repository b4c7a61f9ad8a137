"""Extractions of agents' windows, as test data."""

from datetime import UTC, datetime, timedelta

from memory.ids import event_id, window_id
from memory.keys import encode_key
from memory.records import Extraction
from runtime.tracing import Headers
from streams.engine.records import ConsumedRecord
from tests.made_records import made_event, made_extraction
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
        made_event(
            f"used {tool}",
            said_at,
            id=event_id(name, index, generation),
            tenant=tenant,
            user="agent",
            session="s1",
            window_id=name,
            type="tool_use",
            properties={"tool_name": tool, "failure": failure},
            message_ids=[f"m{window}-{index}"],
        )
        for index, (tool, failure) in enumerate(calls)
    ]
    return made_extraction(
        events,
        said_at,
        window_id=name,
        tenant=tenant,
        user="agent",
        session="s1",
        sequence=window,
        generation=generation,
        drops=drops,
        schema_name=SCHEMA,
        message_ids=[f"m{window}-{index}" for index in range(len(calls))],
    )


def extraction_record(what: Extraction, offset: int, *, headers: Headers = (), partition: int = 0) -> ConsumedRecord:
    return delivered("extractions", offset, encode_key(what.tenant, what.user), what.to_json(), headers=headers, partition=partition)
