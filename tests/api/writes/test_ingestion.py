"""Messages as the service accepts and completes them."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.writes.ingestion import MessageIngestion, RejectedMessage, parse_message
from memory.errors import RecordError, RecordTooLargeError
from memory.records import Message
from runtime.kafka import Producer
from runtime.settings import Settings
from tests.growth import turns_during

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
GOOD: dict[str, Any] = {"user": "ann", "session": "s1", "text": "I moved to Oslo."}


def _parse(body: object) -> Message:
    return parse_message(body, tenant="acme", now=NOW, max_future=timedelta(minutes=5), new_id=str(uuid.uuid4()))


def test_a_message_gets_tenant_id_and_time() -> None:
    message = _parse(GOOD)
    assert (message.tenant, message.user, message.session, message.text) == ("acme", "ann", "s1", "I moved to Oslo.")
    assert message.event_time == NOW
    assert message.id != _parse(GOOD).id


def test_given_fields_are_kept() -> None:
    message = _parse({**GOOD, "id": "m1", "event_time": "2023-01-01T10:00:00+02:00", "metadata": {"channel": "web"}, "role": "assistant"})
    assert message.id == "m1"
    assert message.event_time == datetime(2023, 1, 1, 8, tzinfo=UTC)
    assert message.metadata == {"channel": "web"}
    assert message.role == "assistant"


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({**GOOD, "tenant": "other"}, "tenant: the tenant comes from the API key"),
        ({**GOOD, "tenant": None}, "tenant: the tenant comes from the API key"),
        ({**GOOD, "sesion": "s"}, "sesion: unknown"),
        ({**GOOD, "content": "Hi"}, "content: the message also has text"),
        ({**GOOD, "text": None, "content": [{"type": "hologram"}]}, r"content\.0\.type: 'hologram' is not a known type"),
        ({**GOOD, "text": " "}, "text: a message needs text"),
        ({"messages": [GOOD]}, "messages: unknown field; send several messages as a JSON list"),
        ({**GOOD, "event_time": 0}, "event_time: 1970.*before 1971"),
        ({**GOOD, "time_zone": "Mars"}, "time_zone: 'Mars' is not the IANA name"),
        ({"session": "s1"}, "user: Field required"),
        ({**GOOD, "session": ""}, "session: "),
        ({**GOOD, "session": " \u200b"}, "session: .*needs a visible character"),
        ({**GOOD, "user": "ann\n"}, r"user: .*remove U\+000A, its character 4"),
        ({**GOOD, "id": "\t"}, "id: .*no control characters"),
        ({**GOOD, "role": "robot"}, "role: "),
        ({**GOOD, "event_time": "2023-01-01T10:00:00"}, "event_time: "),
        ({**GOOD, "event_time": "2024-05-01T12:05:01Z"}, "event_time: .* ahead of the service's clock"),
        ({**GOOD, "schema_version": "2.0"}, "schema version 2.0 is newer"),
        ([], "not a list"),
        (None, "not null"),
        (True, "not a boolean"),
        (3, "not a number"),
        ("hi", "not a string"),
    ],
)
def test_a_malformed_message_is_refused_with_its_cause(body: object, word: str) -> None:
    with pytest.raises(RecordError, match=word):
        _parse(body)


def test_of_many_unknown_fields_a_few_are_named() -> None:
    with pytest.raises(RecordError, match=r"^f0, .* and 980 more: unknown field; ") as refused:
        _parse({**GOOD, **{f"f{number}": 0 for number in range(1000)}})
    assert len(str(refused.value)) < 300


async def _refused(bodies: list[object]) -> list[RecordError]:
    """The problems of messages of which none reaches Kafka."""
    settings = Settings()
    ingestion = MessageIngestion(producer=Producer(kafka=settings.kafka), settings=settings)
    outcomes = await ingestion.ingest(bodies, tenant="acme", now=NOW, headers=())
    errors = [each.error for each in outcomes if isinstance(each, RejectedMessage) and isinstance(each.error, RecordError)]
    assert len(errors) == len(bodies)
    return errors


async def test_a_size_is_measured_before_anything_else() -> None:
    wrong = {**GOOD, "role": "robot"}
    small, large = await _refused([wrong, {**wrong, "metadata": {"numbers": [1] * 1_000_000}}])
    assert "role" in str(small)
    assert isinstance(large, RecordTooLargeError)


async def test_others_run_between_a_batchs_messages() -> None:
    _, turns = await turns_during(_refused([{**GOOD, "role": "robot", "metadata": {"numbers": [1] * 2000}}] * 200))
    assert turns > 20, "checking so many takes a hundred times as long as a piece"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=8), children, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*sorted(Message.model_fields), "other"]), JSON, max_size=8))
def test_no_body_chooses_its_tenant(body: dict[str, Any]) -> None:
    try:
        message = _parse(body)
    except RecordError:
        return
    assert message.tenant == "acme"
    assert message.id
    assert Message.from_json(message.to_json()) == message
