"""A memory has a text to show and a text to search."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memory.records import Memory
from memory.records.wording import attributed_text, further_indexed_text, indexed_text

SAID, SEARCHED = "I moved to Oslo.", "Ann (6 May 2024): Ann moved to Oslo."


def memory(**fields: Any) -> Memory:
    noon = datetime(2024, 5, 6, 12, tzinfo=UTC)
    return Memory(id="m", tenant="acme", user="ann", kind="event", type="fact", content=SAID, event_time=noon, message_ids=["m1"], **fields)


@pytest.mark.parametrize(
    ("fields", "shown", "indexed", "further"),
    [
        ({"speaker": "Ann", "search_text": SEARCHED}, f"Ann: {SAID}", SEARCHED, None),
        ({"speaker": "Ann"}, f"Ann: {SAID}", f"Ann: {SAID}", None),
        ({"search_text": SEARCHED}, SAID, SAID, SEARCHED),
        ({}, SAID, SAID, None),
    ],
    ids=["quoted", "corrected", "worded by a model", "described"],
)
def test_the_speaker_decides_which_text_is_searched(fields: dict[str, str], shown: str, indexed: str, further: str | None) -> None:
    found = memory(**fields)
    assert (attributed_text(found), indexed_text(found), further_indexed_text(found)) == (shown, indexed, further)
