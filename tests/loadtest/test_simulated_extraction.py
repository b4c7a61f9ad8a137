"""The simulator's answers to the real extraction prompt are whole and valid: a test can say what an extraction must hold."""

import pytest

from extraction.one_pass.answer.parsing import parse_answer
from extraction.one_pass.answer.validation import validate_answer
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.prompt.build import build_prompt
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.port import ExtractionContext
from loadtest.answers import extraction_answer
from loadtest.requests import ChatRequest
from memory.schema import scenario, scenario_names
from runtime.settings import ExtractionSettings
from tests.extraction.windows import sample_window


@pytest.mark.parametrize("name", scenario_names())
def test_every_message_becomes_one_valid_event(name: str) -> None:
    source = ExtractionInput(window=sample_window(name), schema=scenario(name))
    prompt = build_prompt(source, ExtractionContext(), PromptLimits.of(ExtractionSettings()))
    body = {"messages": [{"role": each.role, "content": each.content} for each in prompt.messages()]}
    draft = validate_answer(parse_answer(extraction_answer(ChatRequest.read(body))), source)
    assert draft.tally.as_dropped() == []
    assert [each.messages for each in draft.events] == [(index,) for index in range(len(source.window.messages))]
    types = [each.name for each in source.schema.event_types]
    assert [each.type for each in draft.events] == [types[index % len(types)] for index in range(len(draft.events))]
    assert all(each.content in prompt.body for each in draft.events)
