"""The paper's own example (VikingMem 4.2): tool calls of an agent become the experience with each tool."""

import pytest

from memory.keys import entity_key
from memory.records import Event, Message
from memory.schema import coerce_properties, sample_conversation, scenario
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState
from operators.entities.render import render
from operators.entities.routing import contributions_of, left_out
from tests.made_records import made_event, made_extraction

SCHEMA = scenario("agent_tools")
SESSIONS = frozenset({"task-invoice-report", "task-competitor-prices"})


def event_of(message: Message) -> Event | None:
    """The event that any extractor makes of a tool call."""
    call, event_type = message.tool_call, SCHEMA.event_type("tool_use")
    if call is None or event_type is None or message.id is None:
        return None
    properties = {
        "tool_name": call.name,
        "success": call.success,
        "failure": int(not call.success),
        "duration_ms": call.duration_ms,
        "error": call.error,
    }
    coerced = coerce_properties(event_type, properties)
    assert coerced.dropped == ()
    return made_event(
        message.text,
        message.event_time,
        id=f"event-{message.id}",
        user=message.user,
        session=message.session,
        type="tool_use",
        properties=coerced.properties,
        message_ids=[message.id],
    )


def test_tool_calls_become_experience() -> None:
    messages = [
        Message.from_fields({**turn, "tenant": "acme"}) for turn in sample_conversation("agent_tools") if turn["session"] in SESSIONS
    ]
    events = [event for message in messages if (event := event_of(message))]
    calls = [message.tool_call for message in messages if message.tool_call and message.tool_call.name == "sql_query"]
    extraction = made_extraction(
        events,
        messages[-1].event_time,
        user="harbor-agent",
        session="task",
        schema_name=SCHEMA.name,
        message_ids=[message.id for message in messages if message.id],
    )
    assert left_out(extraction, SCHEMA) == ()
    states: dict[tuple[str, str], EntityState] = {}
    for contribution in contributions_of(extraction, SCHEMA, source="extractions/0", position=0):
        entity_type = SCHEMA.entity_type(contribution.entity_type)
        assert entity_type is not None
        applied = apply_contribution(None, contribution, entity_type)
        assert applied.refused == ()
        states[contribution.entity_type, contribution.entity_key] = applied.state
    experience = SCHEMA.entity_type("tool_experience")
    assert experience is not None
    memory = render(states["tool_experience", entity_key("sql_query")], experience, "acme", entity_key("sql_query"))
    durations = [call.duration_ms for call in calls if call.duration_ms is not None]
    assert memory.properties.pop("current_failure_rate") == pytest.approx(1 / 3, abs=1e-4)
    assert memory.properties == {
        "tool_name": "sql_query",
        "calls": 3,
        "failures": 1,
        "failure_rate": 1 / 3,
        "average_ms": sum(durations) / 3,
        "slowest_ms": max(durations),
        "fastest_ms": min(durations),
        "frequent_errors": ["statement timeout after 30000 ms"],
        "last_error": "statement timeout after 30000 ms",
    }
    assert memory.content.startswith("tool experience of sql_query: calls: 3; failures: 1; failure rate: 0.3333")
    assert {key for name, key in states if name == "slow_calls"} == {"sql_query", "browser_render"}
