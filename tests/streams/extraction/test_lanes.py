"""A user's windows go one after the other where the schema patches, and a session's elsewhere."""

from dataclasses import replace

from memory.keys import encode_key
from memory.schema import parse_schema, scenario
from streams.extraction.lanes import WindowLanes
from tests.control_log import known_tenants
from tests.streams.extraction.doubles import window_record

NOTES = parse_schema({"Name": "notes", "EventTypes": [{"EventType": "note", "Description": "A note.", "Properties": []}]})
LANES = WindowLanes(tenants=known_tenants({"patching": scenario("companion"), "noting": NOTES}), generation=None)


def lane(tenant: str, user: str, session: str) -> object:
    record = window_record(tenant)
    value = (record.value or b"").replace(b'"s1"', f'"{session}"'.encode())
    return LANES.lane_of(replace(record, key=encode_key(tenant, user), value=value))


def test_where_the_schema_patches_a_user_is_a_lane() -> None:
    assert lane("patching", "ann", "s1") == lane("patching", "ann", "s2")
    assert lane("patching", "ann", "s1") != lane("patching", "bob", "s1")


def test_where_nothing_is_patched_a_session_is_a_lane() -> None:
    assert lane("noting", "ann", "s1") == lane("noting", "ann", "s1")
    assert len({lane("noting", "ann", "s1"), lane("noting", "ann", "s2"), lane("noting", "bob", "s1")}) == 3


def test_what_cannot_be_read_goes_by_its_key() -> None:
    for record in (
        replace(window_record("nobody"), key=encode_key("nobody", "ann")),
        replace(window_record("noting"), key=encode_key("noting", "ann"), value=b"no window"),
        replace(window_record("noting"), key=encode_key("noting", "ann"), value=b'{"session": 7}'),
        replace(window_record("noting"), key=b"%", value=None),
    ):
        assert LANES.lane_of(record) == (record.partition, record.key)
