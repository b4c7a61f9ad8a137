"""Messages of chat completions: lists, conversations, requests with answers, tools, and times."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.records import Message
from varve.errors import ImportFileError
from varve.imports.files import ExportFile
from varve.imports.messages import NO_TEXT, UNREADABLE_TIME, ImportOptions, Skipped
from varve.imports.openai import openai_messages

START = ImportOptions(user="ann", session="s", start=datetime(2024, 5, 6, 12, tzinfo=UTC))
ASK, ANSWER = {"role": "user", "content": "I live in Oslo."}, {"role": "assistant", "content": "Nice."}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "12 degrees"}


def read(folder: Path, text: str, options: ImportOptions = START) -> list[dict[str, Any]]:
    (folder / "m.json").write_text(text)
    messages = [each for each in openai_messages(ExportFile(folder / "m.json"), options) if isinstance(each, dict)]
    for message in messages:
        Message.model_validate({**message, "tenant": "t"})
    return messages


def test_a_list_and_lines_of_messages_are_one_session(tmp_path: Path) -> None:
    messages = read(tmp_path, json.dumps([ASK, ANSWER]))
    assert [(each["role"], each["text"], each["session"]) for each in messages] == [
        ("user", "I live in Oslo.", "s"),
        ("assistant", "Nice.", "s"),
    ]
    assert [each["event_time"] for each in messages] == ["2024-05-06T12:00:00+00:00", "2024-05-06T12:00:01+00:00"]
    assert read(tmp_path, f"{json.dumps(ASK)}\n{json.dumps(ANSWER)}\n") == messages


def test_conversations_are_sessions_with_their_answers(tmp_path: Path) -> None:
    stored = {"id": "chatcmpl-1", "created": 1715000000, "user": "bo", "messages": [ASK], "choices": [{"message": ANSWER}]}
    batch = {"custom_id": "r1", "body": {"messages": [ASK]}}
    first, second, third = read(tmp_path, f"{json.dumps(stored)}\n{json.dumps(batch)}\n")
    assert (first["user"], first["session"], first["event_time"]) == ("bo", "chatcmpl-1", "2024-05-06T12:53:20+00:00")
    assert (second["role"], second["event_time"]) == ("assistant", "2024-05-06T12:53:21+00:00")
    assert (third["user"], third["session"]) == ("ann", "r1")


def test_equal_messages_have_their_own_ids(tmp_path: Path) -> None:
    messages = read(tmp_path, json.dumps({"created": 1715000000, "messages": [ASK, ANSWER, ASK]}))
    assert len({each["id"] for each in messages}) == 3
    assert read(tmp_path, json.dumps([{**ASK, "id": "m1", "created_at": "2024-05-06T12:00:00Z"}]))[0]["id"] == "m1"


def test_tools_and_parts_are_kept(tmp_path: Path) -> None:
    parts = {
        "role": "user",
        "content": [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
    }
    call, result, picture = read(tmp_path, json.dumps([CALL, RESULT, parts]))
    assert call["tool_call"]["name"] == "f"
    assert result["tool_results"][0]["content"] == "12 degrees"
    assert picture["text"].startswith("See")
    assert "AAAA" not in json.dumps(picture)


def test_messages_without_text_are_counted(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps([ASK, {"role": "assistant", "content": " "}]))
    assert list(openai_messages(ExportFile(tmp_path / "m.json"), START))[1] == Skipped(NO_TEXT)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([ASK, {**ASK, "created": "soon"}, ASK], "item 2: 'soon' is no time"),
        (
            [{"created": "8999-12-31T23:59:58Z", "messages": [ASK, ASK, ASK]}],
            "item 1, message 3: 9000-01-01.* is not in the years",
        ),
    ],
)
def test_an_unreadable_time_leaves_out_its_message(tmp_path: Path, value: Any, reason: str) -> None:
    (tmp_path / "m.json").write_text(json.dumps(value))
    found = list(openai_messages(ExportFile(tmp_path / "m.json"), START))
    assert len([each for each in found if isinstance(each, dict)]) == 2
    (skipped,) = (each for each in found if isinstance(each, Skipped))
    assert skipped.reason == UNREADABLE_TIME
    assert re.search(reason, str(skipped.problem))


@pytest.mark.parametrize(
    ("value", "options", "reason"),
    [
        ([ASK], ImportOptions(user="ann", session="s"), "item 1 has no time: give --start"),
        ([ASK], ImportOptions(user="ann", start=START.start), "item 1 names no session: give --session"),
        ([ASK], ImportOptions(session="s", start=START.start), "item 1 names no user: give --user"),
        ([ASK, 7], START, "item 2 is not a message"),
        ([{"messages": [ASK, {"role": "x"}]}], START, "item 1, message 2 is not a message"),
        ([{**ASK, "content": 7}], START, "item 1: content: give a string"),
        ([{**ASK, "role": "robot"}], START, "item 1: .*role"),
    ],
)
def test_other_items_are_refused_with_their_place(tmp_path: Path, value: Any, options: ImportOptions, reason: str) -> None:
    with pytest.raises(ImportFileError, match=reason):
        read(tmp_path, json.dumps(value), options)
