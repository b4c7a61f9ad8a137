"""The metadata of a group's offset, written and read."""

import pytest

from runtime.kafka import OffsetAndTimestamp
from runtime.kafka.parked_note import ParkedNote
from streams.engine.tasks.offset_metadata import OffsetMetadata


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (OffsetMetadata(), ""),
        (OffsetMetadata(last=OffsetAndTimestamp(41, 1_700_000_000_000)), '{"last":[41,1700000000000]}'),
        (OffsetMetadata(cut_at=18), '{"cut_at":18}'),
        (OffsetMetadata(unfinished="replay sessions"), '{"unfinished":"replay sessions"}'),
        (OffsetMetadata(last=OffsetAndTimestamp(0, 0), cut_at=0, stage_metadata={"parked": 3}), '{"parked":3,"last":[0,0],"cut_at":0}'),
    ],
)
def test_a_note_is_read_as_it_was_written(note: OffsetMetadata, text: str) -> None:
    assert note.text == text
    assert OffsetMetadata.parse(text) == note


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "set back by hand",
        "[]",
        "3",
        '{"last":4}',
        '{"last":[4]}',
        '{"last":["a",7]}',
        '{"last":null,"cut_at":"x"}',
        '{"unfinished":1}',
    ],
)
def test_metadata_of_other_programs_is_ignored(text: str | None) -> None:
    assert OffsetMetadata.parse(text) == OffsetMetadata()


def test_parked_records_are_reported_next_to_the_offset() -> None:
    parked = ParkedNote.of({"acme": 3})
    note = OffsetMetadata(last=OffsetAndTimestamp(41, 7), stage_metadata=OffsetMetadata.parse(parked.text).stage_metadata)
    assert ParkedNote.read(note.text) == parked
    assert ParkedNote.read(OffsetMetadata(last=OffsetAndTimestamp(41, 7)).text) == ParkedNote()
