"""The capabilities that are learned from an endpoint's refusals."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.llm.capabilities import Capabilities, closes_every_object
from models.llm.port import ChatMessage, LLMRequest

CLOSED: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def request(**fields: Any) -> LLMRequest:
    return LLMRequest(messages=(ChatMessage("user", "hi"),), tenant="t", stage="test", **fields)


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        ("response_format of type 'json_schema' is not supported", Capabilities(response_format="json_object")),
        ("Failed to parse grammar", Capabilities(response_format="json_object")),
        ("Unrecognized request argument supplied: stream_options", Capabilities(stream_usage=False)),
        ("'max_tokens' is not supported. Use 'max_completion_tokens' instead.", Capabilities(token_limit="max_completion_tokens")),
        ("Unsupported value: 'temperature' does not support 0", Capabilities(temperature=False)),
        ("This model's maximum context length is 4096 tokens", None),
    ],
)
def test_a_refused_capability_is_dropped(refusal: str, expected: Capabilities | None) -> None:
    assert Capabilities().downgraded(refusal) == expected


def test_a_response_format_from_the_settings_is_kept() -> None:
    assert Capabilities(response_format="json_object", format_is_fixed=True).downgraded("response_format is unknown") is None


@given(st.lists(st.sampled_from(["response_format", "stream_options", "max_completion_tokens", "temperature"]), max_size=30))
def test_downgrading_ends_after_five_steps(refusals: list[str]) -> None:
    known: Capabilities | None = Capabilities()
    steps = 0
    for refusal in refusals:
        lesser = known.downgraded(refusal) if known else None
        if lesser is not None:
            assert lesser != known
            known, steps = lesser, steps + 1
    assert steps <= 5


def test_the_response_format_needs_a_schema() -> None:
    assert "response_format" not in Capabilities().arguments(request(), max_tokens=5, temperature=0)
    asked = Capabilities().arguments(request(json_schema=CLOSED), max_tokens=5, temperature=0)
    assert asked["response_format"] == {"type": "json_schema", "json_schema": {"name": "extraction", "schema": CLOSED, "strict": True}}
    plain = Capabilities(response_format="none").arguments(request(json_schema=CLOSED), max_tokens=5, temperature=0)
    assert "response_format" not in plain


def test_another_attempt_raises_the_temperature() -> None:
    assert Capabilities().arguments(request(), max_tokens=5, temperature=0)["temperature"] == 0
    assert Capabilities().arguments(request(attempt=1), max_tokens=5, temperature=0)["temperature"] > 0
    assert Capabilities().arguments(request(attempt=1), max_tokens=5, temperature=0.9)["temperature"] == 0.9


@pytest.mark.parametrize(
    "schema",
    [
        {**CLOSED, "additionalProperties": True},
        {**CLOSED, "required": []},
        {"type": "array", "items": {"anyOf": [CLOSED, {**CLOSED, "required": []}]}},
    ],
)
def test_a_schema_with_an_open_object_is_not_strict(schema: dict[str, Any]) -> None:
    assert closes_every_object({"type": "array", "items": {"anyOf": [CLOSED, CLOSED]}})
    assert not closes_every_object(schema)
