"""An event is supported if the window has its names and enough of its words."""

from datetime import UTC, datetime

import pytest

from extraction.drafts import Draft, EventDraft
from extraction.one_pass.support import mark_unsupported
from extraction.port import ExtractionContext
from tests.extraction.windows import window_of

SAID = datetime(2023, 5, 8, tzinfo=UTC)
MESSAGES = (
    "My sister rang during the break, Amira is expecting her second child in August!",
    "I handed in my notice at the hospital today and I start at a school in Rotherham next month.",
    "We hike up Kinder Scout on Saturday. I gave up coffee three weeks ago.",
)


def is_supported(content: str, context: ExtractionContext | None = None, messages: tuple[str, ...] = MESSAGES) -> bool:
    event = EventDraft(
        type="fact",
        content=content,
        properties={},
        importance=0.5,
        keywords=(),
        segment=None,
        messages=(0,),
        event_time=SAID,
        said_at=SAID,
    )
    [marked] = mark_unsupported(Draft(events=(event,)), window_of(*messages, speaker="Noor"), context or ExtractionContext()).events
    return not marked.unsupported


@pytest.mark.parametrize(
    "content",
    [
        "Noor's sister Amira expects her second child in August.",
        "Noor gave notice at the hospital on 2023-05-08.",
        "Noor begins at a school in Rotherham in 2023-06.",
        "Noor gave coffee up around 2023-04-17.",
        "Noor plans to hike on Kinder Scout on 2023-05-13.",
        "Noor left.",
    ],
)
def test_a_paraphrase_is_supported(content: str) -> None:
    assert is_supported(content)


@pytest.mark.parametrize(
    "content",
    [
        "Noor is the administrator of the payroll system.",
        "Noor bought a motorbike for her birthday.",
        "Noor's brother Malik serves in the navy.",
        "Noor hikes up Kinder Scout with Mallory.",
        "The password is hunter2.",
    ],
)
def test_an_invention_is_not_supported(content: str) -> None:
    assert not is_supported(content)


def test_a_name_from_the_summary_is_supported() -> None:
    assert not is_supported("Noor hikes up Kinder Scout with Dylan.")
    assert is_supported("Noor hikes up Kinder Scout with Dylan.", ExtractionContext(session_summary="Dylan, Noor's partner"))


def test_a_german_noun_is_no_name() -> None:
    messages = ("Mein Kater ist krank, ich war gestern mit ihm beim Tierarzt.", "Er soll drei Tage nicht auf die Straße.")
    assert is_supported("Noor war mit ihrem Kater beim Tierarzt in Behandlung, weil er krank ist.", messages=messages)
    assert not is_supported("Noor hat ein Motorrad zum Geburtstag gekauft.", messages=messages), "most of its words are nowhere"
    assert not is_supported("Noor hikes up Kinder Scout with Behandlung.")
