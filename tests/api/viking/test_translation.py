"""Messages, weights and sessions between VikingDB's forms and Varve's."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from varve_client import Memory, RecalledMemory, Session

from api.viking.errors import Code, VikingError
from api.viking.owners import MessageHandle, MessageOwner, Owner
from api.viking.translation import messages_of, result_of, session_fields, weights_of

NOW = datetime(2024, 5, 6, 12, tzinfo=UTC)
NOW_MS = 1_714_996_800_000
METADATA: dict[str, Any] = {
    "default_user_id": "ann",
    "default_user_name": "Ann",
    "default_assistant_id": "coach",
    "group_id": "club",
    "time": NOW_MS,
}
ids = st.text(min_size=1, max_size=12)


def sent(*messages: dict[str, Any], now: datetime = NOW, **fields: Any) -> list[dict[str, Any]]:
    return messages_of({"messages": [*messages], "metadata": METADATA, **fields}, session="s", now=now)


def said(content: Any = "Hello", role: str = "user", **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


@given(st.one_of(st.none(), ids), st.one_of(st.none(), ids), ids)
def test_assistants_and_groups_survive_a_message_id(assistant: str | None, group: str | None, name: str) -> None:
    found = MessageOwner.of("ann", [Owner(user_id="ann", assistant_id=assistant, group_id=group).message_id(name)])
    assert found == MessageOwner((assistant,) if assistant else (), (group,) if group else ())


@given(ids, ids, ids)
def test_a_handle_names_its_message(user: str, session: str, message: str) -> None:
    assert MessageHandle.of(str(MessageHandle(user, session, message))) == MessageHandle(user, session, message)


@pytest.mark.parametrize("event_id", ["0b9a", "message/a/b", "message/a/b/c/d", "memory/a/b/c"])
def test_other_ids_name_no_message(event_id: str) -> None:
    assert MessageHandle.of(event_id) is None


def test_ids_of_other_apis_name_no_assistant() -> None:
    assert MessageOwner.of("ann", ["m1", "viking/a", "mem0/a/b/c"]) == MessageOwner((), ())
    assert MessageOwner.of("assistant:coach", []) == MessageOwner(("coach",), ())


def test_long_ids_are_refused() -> None:
    with pytest.raises(VikingError, match="too long"):
        Owner(user_id="ann", assistant_id="a" * 300).message_id("1")


def test_messages_keep_speakers_times_and_order() -> None:
    first, second, third = sent(said(), said("Hi", "assistant"), said("Yes", role_id="bob", role_name="Bob", time=NOW_MS + 5000))
    assert (first["user"], first["speaker"], first["event_time"]) == ("ann", "Ann", "2024-05-06T12:00:00+00:00")
    assert (second["user"], second["role"], second["event_time"]) == ("ann", "assistant", "2024-05-06T12:00:00.001000+00:00")
    assert "speaker" not in second
    assert (third["user"], third["speaker"], third["event_time"]) == ("bob", "Bob", "2024-05-06T12:00:05+00:00")
    assert {each["session"] for each in (first, second, third)} == {"s"}
    assert MessageOwner.of("ann", [first["id"]]) == MessageOwner(("coach",), ("club",))


def test_a_repeated_request_has_the_same_ids() -> None:
    later = NOW.replace(hour=13)
    assert [each["id"] for each in sent(said())] == [each["id"] for each in sent(said(), now=later)]
    untimed: dict[str, Any] = {"metadata": {**METADATA, "time": None}}
    assert sent(said(), **untimed)[0]["id"] != sent(said(), now=later, **untimed)[0]["id"]
    assert len({each["id"] for each in sent(said("Yes"), said("Yes"))}) == 2
    assert (
        sent(said([{"type": "text", "text": "x", "n": 2**70}]))[0]["id"] != sent(said([{"type": "text", "text": "x", "n": 2**71}]))[0]["id"]
    )


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"messages": []}, "messages: expected 1 to 1000, found 0"),
        ({"messages": [said()] * 1001}, "found 1001"),
        ({"messages": "Hello"}, "messages: expected a list"),
        ({"messages": [said(role="robot")]}, r"messages\[0\].role"),
        ({"messages": [said(7)]}, r"messages\[0\].content"),
        ({"messages": [said(time="now")]}, r"messages\[0\].time"),
        ({"messages": [said(role_id=7)]}, "role_id"),
        ({"messages": [said()], "metadata": {}}, "metadata.default_user_id"),
        ({"messages": [said()], "metadata": {"default_user_id": 7}}, "default_user_id: expected a text"),
        ({"messages": [said()], "metadata": {"default_user_id": "ann", "time": 10**20}}, "metadata.time"),
        ({"messages": [said()], "ttl_relative": 60}, "ttl_relative: not available"),
        ({"messages": [said()], "extract_memory_type": ["mood"]}, "extract_memory_type: not available"),
        ({"messages": [said()], "store_file": True}, "store_file: not available"),
    ],
)
def test_wrong_messages_are_refused_by_name(body: dict[str, Any], named: str) -> None:
    with pytest.raises(VikingError, match=named) as raised:
        messages_of(body, session="s", now=NOW)
    assert raised.value.code is Code.INVALID_REQUEST


def test_a_conversation_without_user_belongs_to_its_assistant() -> None:
    assert messages_of({"messages": [said()], "metadata": {"default_assistant_id": "coach"}}, session="s", now=NOW)[0]["user"] == (
        "assistant:coach"
    )


@pytest.mark.parametrize(
    ("body", "weights"),
    [
        ({}, {}),
        ({"time_decay_config": {"weight": 0.5}}, {"time_weight": 0.5, "freshness_window_s": 0}),
        ({"time_decay_config": {"weight": 0, "no_decay_period": 3}}, {"time_weight": 0, "freshness_window_s": 259_200}),
        ({"custom_weight": 0.25}, {"business_weight": 0.25}),
    ],
)
def test_weights_are_translated_to_recall_weights(body: dict[str, Any], weights: dict[str, float]) -> None:
    assert weights_of(body) == weights


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"time_decay_config": 0.5}, "time_decay_config"),
        ({"time_decay_config": {}}, "weight"),
        ({"time_decay_config": {"weight": 1}}, "time_decay_config.weight"),
        ({"time_decay_config": {"weight": True}}, "time_decay_config.weight"),
        ({"time_decay_config": {"weight": 0.1, "no_decay_period": 10_001}}, "no_decay_period"),
        ({"time_decay_config": {"weight": 0.1, "no_decay_period": "1"}}, "no_decay_period"),
        ({"custom_weight": -0.1}, "custom_weight"),
        ({"custom_weight": float("nan")}, "custom_weight"),
    ],
)
def test_wrong_weights_are_refused_by_name(body: dict[str, Any], named: str) -> None:
    with pytest.raises(VikingError, match=named):
        weights_of(body)


def a_memory(kind: str = "event", evidence: str = "m1", **fields: Any) -> dict[str, Any]:
    return {"id": "e", "kind": kind, "type": "mood", "content": "I am proud", "event_time": NOW, "evidence": [evidence], **fields}


def test_a_result_has_scores_and_evidence() -> None:
    parts = {"origin": 0.4, "time": 0.5, "business": 0.6, "dense": 0.7}
    found = result_of(RecalledMemory(**a_memory(user="ann", session="s", properties={"score": 9}), score=0.45, parts=parts))
    assert (found["score"], found["origin_score"], found["time_score"], found["custom_weight_score"]) == (0.45, 0.4, 0.5, 0.6)
    assert (found["memory_info"], found["time"]) == ({"score": 9, "summary": "I am proud"}, NOW_MS)
    assert (found["user_id"], found["assistant_id"], found["evidence"]) == (["ann"], [], ["m1"])


def test_a_profile_has_its_text_and_key() -> None:
    found = result_of(Memory(**a_memory("entity", entity_key="ann", properties={"home": "Oslo"})))
    assert found["memory_info"] == {"home": "Oslo", "user_profile": "I am proud"}
    assert found["entity_key"] == "ann"
    assert "score" not in found


def stored(message_id: str | None = "m1") -> dict[str, Any]:
    message = {"id": message_id, "user": "ann", "role": "user", "text": "Hi", "event_time": "2024-05-06T12:00:00Z"}
    return {"window_sequence": 0, "message": message}


@pytest.mark.parametrize(
    ("messages", "open_window", "memories", "status"),
    [
        ([stored()], None, [], "processing"),
        ([stored()], None, [a_memory()], "success"),
        ([stored()], None, [a_memory(evidence="m0")], "processing"),
        ([stored()], {"sequence": 1, "message_count": 1}, [a_memory()], "processing"),
        ([], None, [a_memory()], "success"),
        ([stored(None)], None, [], "success"),
    ],
)
def test_a_session_is_processed_once_memories_name_it(
    messages: list[dict[str, Any]], open_window: Any, memories: list[dict[str, Any]], status: str
) -> None:
    session = Session.model_validate({"session": "s", "messages": messages, "open_window": open_window})
    found = session_fields(session, [Memory(**each) for each in memories])
    assert found["status"] == status
    assert len(found["event_memory"]) == len(memories)
