"""The simulator's answers to the real extraction prompt are whole and valid: an oracle can say what an extraction lays down."""

import pytest

from extraction.one_pass.answer.parsing import parse_answer
from extraction.one_pass.answer.validation import validate_answer
from extraction.one_pass.prompt.build import build_prompt
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.one_pass.source import Source
from extraction.port import ExtractionContext
from loadtest.answers import extraction_answer
from loadtest.requests import ChatRequest
from memory.records import Message, Window
from memory.schema import sample_conversation, scenario, scenario_names
from runtime.settings import ExtractionSettings


def window_of(name: str) -> Window:
    messages = [Message.from_fields({"tenant": "acme", **each}) for each in sample_conversation(name)][:20]
    return Window(
        id="w",
        tenant="acme",
        user=messages[0].user,
        session=messages[0].session,
        sequence=0,
        messages=messages,
        closed_by="flush",
        source_partition=0,
        first_offset=0,
        last_offset=len(messages) - 1,
    )


@pytest.mark.parametrize("name", scenario_names())
def test_every_message_becomes_one_valid_event(name: str) -> None:
    rules = Source(window=window_of(name), schema=scenario(name))
    prompt = build_prompt(rules, ExtractionContext(), PromptLimits.of(ExtractionSettings()))
    body = {"messages": [{"role": each.role, "content": each.content} for each in prompt.messages()]}
    draft = validate_answer(parse_answer(extraction_answer(ChatRequest.read(body))), rules)
    assert draft.tally.as_dropped() == []
    assert [each.messages for each in draft.events] == [(place,) for place in range(len(rules.window.messages))]
    types = [each.name for each in rules.schema.event_types]
    assert [each.type for each in draft.events] == [types[place % len(types)] for place in range(len(draft.events))]
    assert all(each.content in prompt.body for each in draft.events)
