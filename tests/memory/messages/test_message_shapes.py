"""Messages of OpenAI's and Anthropic's APIs become Varve's own form; what states nothing is refused with the field's name."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import MalformedRecordError, RecordError
from memory.messages.message_preparation import is_native, message_of, native_fields
from memory.records import Message

HEAD: dict[str, Any] = {"tenant": "acme", "user": "ann", "session": "s1", "id": "m1", "event_time": "2024-05-06T18:00:00Z"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["text", "tool_use", "image", "tool_result", "{}", "user", "tool"])
    | st.sampled_from(["text", "tool_use", "tool_result", "web_search_tool_result", "function_call", "function_call_output"])
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "content", "id", "name", "function", "input", "arguments", "is_error"]), inner)
    ),
    max_leaves=8,
)
NAMES = ["text", "content", "role", "tool_call", "tool_calls", "tool_results", "tool_call_id", "name", "function_call", "refusal", "audio"]
FIELDS = st.dictionaries(
    st.sampled_from([*NAMES, "metadata", "speaker", "type", "output"]),
    JSON,
)


def read(**fields: Any) -> Message:
    return message_of({**HEAD, **fields})


@pytest.mark.parametrize("field", ["text", "content"])
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("I moved to Bergen.", "I moved to Bergen."),
        ([{"type": "text", "text": "For context:"}, {"type": "text", "text": "I work nights."}], "For context:\nI work nights."),
        ({"type": "text", "text": "I work nights."}, "I work nights."),
        (["I work nights.", {"type": "input_text", "text": "At sea."}], "I work nights.\nAt sea."),
        ([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}], "Look:\n[image]"),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}, "[image]"),
        ([{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}], "[audio]"),
        ([{"type": "file", "file": {"filename": "report.pdf", "file_data": "data:application/pdf;base64,AAAA"}}], "[file report.pdf]"),
        ([{"type": "document", "title": "Lease", "source": {"type": "base64", "data": "AAAA"}}], "[file Lease]"),
        ([{"type": "file", "file": {"file_id": "f-1"}}], "[file]"),
        ([{"type": "refusal", "refusal": "I can't help."}], "I can't help."),
        ([{"type": "thinking", "thinking": "She may lie.", "signature": "x"}, {"type": "text", "text": "Sure."}], "Sure."),
        (
            [{"type": "text", "text": "It is "}, {"type": "text", "text": "3 degrees", "citations": [{}]}, {"type": "text", "text": "."}],
            "It is 3 degrees.",
        ),
    ],
)
def test_content_becomes_text(field: str, content: Any, text: str) -> None:
    assert read(**{field: content}).text == text


def test_the_developer_role_is_read_as_system() -> None:
    assert read(role="developer", content="Be brief.").role == "system"


def test_the_name_of_a_participant_is_the_speaker() -> None:
    assert read(role="user", name="Ann", content="Hi").speaker == "Ann"


def test_null_content_with_one_call() -> None:
    message = read(role="assistant", content=None, tool_calls=[CALL], refusal=None, annotations=[], audio=None, function_call=None)
    assert message.text == ""
    assert message.tool_call is not None
    assert (message.tool_call.id, message.tool_call.name, message.tool_call.arguments) == ("call_1", "get_weather", {"city": "Oslo"})


def test_several_calls_of_one_turn() -> None:
    blocks = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}},
        {"type": "tool_use", "id": "toolu_2", "name": "weather", "input": {"city": "Bergen"}},
    ]
    message = read(role="assistant", content=blocks, stop_reason="tool_use", model="any")
    assert (message.text, message.tool_call) == ("I look.", None)
    assert [(each.id, each.arguments) for each in message.calls] == [("toolu_1", {"city": "Oslo"}), ("toolu_2", {"city": "Bergen"})]


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "tool", "tool_call_id": "call_1", "content": "3 degrees"},
        {"role": "tool", "metadata": {"tool_call_id": "call_1"}, "text": "3 degrees"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "3 degrees"}]}]},
        {"type": "function_call_output", "call_id": "call_1", "output": "3 degrees"},
    ],
)
def test_a_result_names_its_call(fields: dict[str, Any]) -> None:
    message = read(**fields)
    assert message.text == ""
    assert [(each.call_id, each.content) for each in message.tool_results] == [("call_1", "3 degrees")]


def test_a_failed_result() -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "no such city", "is_error": True}
    (result,) = read(role="user", content=[block, {"type": "text", "text": "Try Bergen."}]).tool_results
    assert result.success is False


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"content": 3}, "^content: give a string, a list of parts or one part, not a number"),
        ({"content": [{"type": "hologram"}]}, r"^content\.0\.type: 'hologram' is not a known type"),
        ({"content": ["Hi", 7]}, r"^content\.1: a part is a string or an object"),
        ({"content": [{"type": "text", "text": 7}]}, r"^content\.0\.text: give a string"),
        ({"content": {"body": "Hi"}}, r"^content\.type: give the type"),
        ({"content": [{"type": "tool_result", "content": [7]}]}, r"^content\.0\.content\.0: "),
        ({"content": "Hi", "text": "Ho"}, "^content: the message also has text"),
        ({"tool_calls": {}}, "^tool_calls: give a list"),
        ({"tool_calls": [7]}, r"tool_calls\.0: "),
        ({"content": [{"type": "tool_result", "content": "Hi"}], "tool_results": 7}, "^tool_results: give a list, not a number"),
        ({"Text": "My sister is called Lene."}, "^text: a message needs text .*; Text: unknown"),
        ({"body": "Hi", "text": "  "}, "body: unknown"),
        ({"content": None}, "^text: a message needs text"),
        ({"content": [{"type": "thinking", "thinking": "Hm."}]}, "^content: it holds no text"),
        ({}, "^text: a message needs text"),
    ],
)
def test_a_message_without_text_is_refused_by_name(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(MalformedRecordError, match=problem):
        read(**fields)


@pytest.mark.parametrize("kind", ["tool_result", "web_search_tool_result"])
def test_deep_results_are_refused(kind: str) -> None:
    content: Any = "end"
    for _ in range(900):
        content = [{"type": kind, "tool_use_id": "t1", "content": content}]
    with pytest.raises(MalformedRecordError, match=r"content\.0\.content"):
        read(content=content)


def test_harmless_unknown_fields_stay() -> None:
    assert (read(text="Hi", mood="good").model_extra or {}) == {"mood": "good"}


def test_no_data_of_a_file_is_left() -> None:
    parts = [
        {"type": kind, "source": {"data": "SECRET"}, kind: {"data": "SECRET", "url": "data:SECRET", "file_data": "SECRET"}}
        for kind in ("image", "image_url", "input_image", "audio", "input_audio", "video", "file", "document")
    ]
    assert b"SECRET" not in read(content=parts).to_json()


@given(FIELDS)
def test_any_fields_become_a_message_or_a_refusal(fields: dict[str, Any]) -> None:
    try:
        message = message_of({**HEAD, **fields})
        raw = message.to_json()
    except RecordError:
        return
    assert Message.from_json(raw).to_json() == raw
    assert message_of(native_fields(message.model_dump(mode="json"))).to_json() == raw


def test_a_native_message_is_not_converted() -> None:
    fields = {**HEAD, "text": "Hi", "tool_calls": [], "tool_results": [], "automated": False}
    assert is_native(fields)
    assert native_fields(fields) is fields
