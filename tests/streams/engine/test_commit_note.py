"""What is written beside a group's offset, and read again."""

import pytest

from runtime.kafka import RecordStamp
from runtime.kafka.parked_note import ParkedNote
from streams.engine.tasks.offset_metadata import CommitNote


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (CommitNote(), ""),
        (CommitNote(last=RecordStamp(41, 1_700_000_000_000)), '{"last":[41,1700000000000]}'),
        (CommitNote(cut_at=18), '{"cut_at":18}'),
        (CommitNote(unfinished="replay sessions"), '{"unfinished":"replay sessions"}'),
        (CommitNote(last=RecordStamp(0, 0), cut_at=0, told={"parked": 3}), '{"parked":3,"last":[0,0],"cut_at":0}'),
    ],
)
def test_a_note_is_read_as_it_was_written(note: CommitNote, text: str) -> None:
    assert note.text == text
    assert CommitNote.parse(text) == note


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
def test_what_others_wrote_says_nothing(text: str | None) -> None:
    assert CommitNote.parse(text) == CommitNote()


def test_what_is_parked_is_told_beside() -> None:
    parked = ParkedNote.of({"acme": 3})
    note = CommitNote(last=RecordStamp(41, 7), told=CommitNote.parse(parked.text).told)
    assert ParkedNote.read(note.text) == parked
    assert ParkedNote.read(CommitNote(last=RecordStamp(41, 7)).text) == ParkedNote()
