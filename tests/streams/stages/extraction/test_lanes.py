"""A user's windows run one after the other if the schema patches or matches keys; otherwise only those of a session."""

from dataclasses import replace

import pytest

from memory.keys import encode_key
from memory.schema import parse_schema, scenario
from streams.stages.extraction.lanes import WindowLanes
from tests.control_log import known_tenants
from tests.streams.stages.extraction.doubles import window_record

NOTES = parse_schema({"Name": "notes", "EventTypes": [{"EventType": "note", "Description": "A note.", "Properties": []}]})
MATCHING = parse_schema(
    {
        "Name": "matching",
        "EventTypes": [{"EventType": "note", "Properties": [{"PropertyName": "topic", "PropertyValueType": "string"}]}],
        "EntityTypes": [
            {
                "EntityType": "topic",
                "Keys": ["user", "topic"],
                "Properties": [
                    {"PropertyName": "topic", "PropertyValueType": "string", "IsPrimaryKey": True, "Similarity": 0.75},
                    {"PropertyName": "notes", "PropertyValueType": "int64", "AggregateExpression": {"Op": "COUNT", "EventType": "note"}},
                ],
            }
        ],
    }
)
SCHEMAS = {"patching": scenario("companion"), "matching": MATCHING, "noting": NOTES}
LANES = WindowLanes(tenants=known_tenants(SCHEMAS), generation=None)


def lane(tenant: str, user: str, session: str) -> object:
    record = window_record(tenant)
    value = (record.value or b"").replace(b'"s1"', f'"{session}"'.encode())
    return LANES.ordering_key(replace(record, key=encode_key(tenant, user), value=value))


@pytest.mark.parametrize("tenant", ["patching", "matching"])
def test_where_windows_build_up_a_user_is_a_lane(tenant: str) -> None:
    assert lane(tenant, "ann", "s1") == lane(tenant, "ann", "s2")
    assert lane(tenant, "ann", "s1") != lane(tenant, "bob", "s1")


def test_elsewhere_a_session_is_a_lane() -> None:
    assert lane("noting", "ann", "s1") == lane("noting", "ann", "s1")
    assert len({lane("noting", "ann", "s1"), lane("noting", "ann", "s2"), lane("noting", "bob", "s1")}) == 3


def test_unreadable_records_are_ordered_by_their_key() -> None:
    for record in (
        replace(window_record("nobody"), key=encode_key("nobody", "ann")),
        replace(window_record("noting"), key=encode_key("noting", "ann"), value=b"no window"),
        replace(window_record("noting"), key=encode_key("noting", "ann"), value=b'{"session": 7}'),
        replace(window_record("noting"), key=b"%", value=None),
    ):
        assert LANES.ordering_key(record) == (record.partition, record.key)
