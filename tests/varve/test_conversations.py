"""Files of messages: LoCoMo's form, and a message a line."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memory.records import Message
from memory.schema import scenario_names
from varve.conversations import locomo_conversation, read_conversation, scenario_sample
from varve.errors import ConversationError


def _locomo() -> dict[str, Any]:
    return {
        "sample_id": "conv-1",
        "qa": [{"question": "Where does Ann live?", "answer": "Bergen", "evidence": ["D2:1"]}],
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_10_date_time": "12:09 am on 13 September, 2023",
            "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "It is late."}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Ann", "dia_id": "D2:1", "text": "I live in Bergen."},
                {"speaker": "Bo", "dia_id": "D2:2", "text": "Look!", "blip_caption": "a photo of a dog"},
            ],
        },
    }


def test_locomo_sessions_keep_their_order_and_times() -> None:
    conversation = locomo_conversation([_locomo()], source="a file")
    assert [message["id"] for message in conversation.messages] == ["D2:1", "D2:2", "D10:1"]
    assert [message["session"] for message in conversation.messages] == ["session_2", "session_2", "session_10"]
    times = [datetime.fromisoformat(message["event_time"]) for message in conversation.messages]
    assert times[0].isoformat() == "2023-05-08T13:56:00+00:00"
    assert times[2].isoformat() == "2023-09-13T00:09:00+00:00"
    assert times == sorted(times)
    assert conversation.questions == ("Where does Ann live?",)


def test_locomo_speakers_become_roles_and_captions_join_the_text() -> None:
    messages = locomo_conversation(_locomo(), source="a file").messages
    assert [(message["role"], message["speaker"]) for message in messages] == [("user", "Ann"), ("assistant", "Bo"), ("user", "Ann")]
    assert {message["user"] for message in messages} == {"conv-1"}
    assert messages[1]["text"] == "Look! [picture: a photo of a dog]"


def test_every_locomo_turn_is_a_valid_message() -> None:
    for fields in locomo_conversation(_locomo(), source="a file").messages:
        Message.model_validate({**fields, "tenant": "t"})


@pytest.mark.parametrize("scenario", scenario_names())
def test_every_sample_has_valid_messages_and_questions(scenario: str) -> None:
    conversation = scenario_sample(scenario)
    for fields in conversation.messages:
        Message.model_validate({**fields, "tenant": "t"})
    assert len(conversation.questions) >= 5


def test_jsonl_messages_are_read_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text('{"user": "u", "session": "s", "text": "one"}\n\n{"user": "u", "session": "s", "text": "two"}\n')
    assert [message["text"] for message in read_conversation(file).messages] == ["one", "two"]
    file.write_text('{"user": "u", "session": "s", "text": "alone"}')
    assert [message["text"] for message in read_conversation(file).messages] == ["alone"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"a": 1}\nnonsense\n', r"line 2: not JSON"),
        ('{"a": 1}\n[1]\n', r"line 2: a message is a JSON object, this is list"),
        (json.dumps([{"conversation": {"speaker_a": "A"}}]), r"has no sessions with turns"),
        (json.dumps([{"conversation": {"speaker_a": "A", "session_1": []}}]), r"not in LoCoMo's form: KeyError at 'session_1_date_time'"),
        ("[]", r"not in LoCoMo's form"),
        ("7", r"not in LoCoMo's form"),
    ],
)
def test_an_unknown_form_is_refused_with_its_location(content: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    file.write_text(content)
    with pytest.raises(ConversationError, match=problem):
        read_conversation(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConversationError, match=r"nowhere\.json cannot be read: No such file or directory"):
        read_conversation(tmp_path / "nowhere.json")
