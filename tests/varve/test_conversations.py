"""Files of messages: LoCoMo's form, and a message a line."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memory.messages.message_preparation import message_of
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
        ('{"text": "Hi"}\nnonsense\n', r"line 2: not JSON"),
        ('{"text": "Hi"}\n[1]\n', r"line 2, item 1: a message is a JSON object, this is a number"),
        ('{"a": 1}', r"is a JSON object with a, which is not a message\. Send JSONL"),
        ('[{"role": "user", "content": "Hi"}]', r"message 1 names no user: .* --user NAME"),
        ('[{"user": "ann", "content": "Hi"}]', r"message 1 names no session: .* --session NAME"),
        ("PK\x03\x04", r"is a ZIP archive: unpack it"),
        ("name,text\nann,Hi\n", r"line 1: not JSON"),
        (json.dumps([{"conversation": {"speaker_a": "A"}}]), r"has no sessions with turns"),
        (json.dumps([{"conversation": {"speaker_a": "A", "session_1": []}}]), r"not in LoCoMo's form: KeyError at 'session_1_date_time'"),
        ("[]", r"has no messages"),
        ("7", r"a message is a JSON object, this is a number"),
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


MESSAGES: list[dict[str, Any]] = [
    {"user": "ann", "session": "s1", "id": "m1", "text": "I moved to Bergen."},
    {"user": "ann", "session": "s1", "id": "m2", "text": "Mein Kater heißt Pixel 🐈."},
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("separator", ["\n", "\r\n"])
def test_any_unicode_encoding_is_read(tmp_path: Path, encoding: str, separator: str) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_bytes(separator.join(json.dumps(each, ensure_ascii=False) for each in MESSAGES).encode(encoding))
    assert list(read_conversation(file).messages) == MESSAGES


def test_another_encoding_is_refused_with_a_remedy(tmp_path: Path) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_bytes('{"user": "ann", "session": "s1", "text": "Zürich"}'.encode("latin-1"))
    with pytest.raises(ConversationError, match=r"not text in UTF-8 or UTF-16 .*iconv"):
        read_conversation(file)


@pytest.mark.parametrize("form", [MESSAGES, {"messages": MESSAGES}, {"user": "ann", "session": "s1", "messages": MESSAGES}])
def test_arrays_of_messages_are_read(tmp_path: Path, form: Any) -> None:
    file = tmp_path / "messages.json"
    file.write_text(json.dumps(form, indent=1))
    assert list(read_conversation(file).messages) == MESSAGES


def test_messages_of_an_api_get_user_and_session(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    turns = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}, {"role": "assistant", "content": None, "refusal": "No."}]
    file.write_text(json.dumps([*turns, {"role": "assistant", "content": ""}]))
    conversation = read_conversation(file, user="ann", session="s1")
    assert [message_of({"tenant": "t", "event_time": 1714998001, **each}).text for each in conversation.messages] == ["Hi", "No."]
    assert conversation.left_out == 1


def _node(name: str, parent: str | None, role: str, text: Any, time: float | None, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {
        "id": name,
        "parent": parent,
        "message": {"id": name, "author": {"role": role}, "create_time": time, "content": content, **more},
    }


def test_a_chatgpt_export_gives_its_current_branch(tmp_path: Path) -> None:
    nodes = [
        {"id": "root", "parent": None, "message": None},
        _node("sys", "root", "system", "You are ChatGPT.", None),
        _node("q1", "sys", "user", "I live in Oslo.", 1714998000.0),
        _node("a1", "q1", "assistant", "Abandoned.", 1714998001.0),
        _node("q2", "sys", "user", "I live in Bergen.", 1714998002.0),
        _node("t2", "q2", "assistant", "search('Bergen')", 1714998002.5, recipient="web"),
        _node("a2", "t2", "assistant", {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}, None),
    ]
    export = [{"title": "Move", "conversation_id": "c1", "current_node": "a2", "mapping": {each["id"]: each for each in nodes}}]
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(export))
    messages = read_conversation(file, user="ann").messages
    assert [(each["session"], each["id"], each["role"], each["text"], each["event_time"]) for each in messages] == [
        ("chatgpt-c1", "q2", "user", "I live in Bergen.", 1714998002.0),
        ("chatgpt-c1", "a2", "assistant", "[image]", 1714998002.5),
    ]
    for message in messages:
        message_of({"tenant": "t", **message})


def test_a_circle_in_a_chatgpt_export_ends(tmp_path: Path) -> None:
    nodes = {"a": _node("a", "b", "user", "one", 1714998000.0), "b": _node("b", "a", "assistant", "two", 1714998000.0)}
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps({"current_node": "b", "mapping": nodes}))
    assert [each["text"] for each in read_conversation(file, user="ann").messages] == ["one", "two"]


def test_a_claude_export_is_read(tmp_path: Path) -> None:
    turns = [
        {"uuid": "m1", "sender": "human", "text": "Hi", "created_at": "2024-05-06T18:00:00Z", "attachments": [{"file_name": "a.pdf"}]},
        {"uuid": "m2", "sender": "assistant", "content": [{"type": "thinking"}, {"type": "text", "text": "Hello"}]},
    ]
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([{"uuid": "c1", "name": "Talk", "chat_messages": turns}]))
    messages = read_conversation(file, user="ann").messages
    assert [(each["session"], each["role"], each["text"]) for each in messages] == [
        ("claude-c1", "user", "Hi\n[file a.pdf]"),
        ("claude-c1", "assistant", "Hello"),
    ]
