"""An erasure's receipt as people read it."""

from datetime import UTC, datetime, timedelta

from control.erasure import Erasure, subject_of
from varve.cli.erasures import receipt_lines

NOW = datetime(2025, 1, 1, 12, 30, 15, 999_999, tzinfo=UTC)
SUBJECT = subject_of("acme", "ann")


def test_a_finished_erasure_tells_what_there_was() -> None:
    receipt = Erasure(
        tenant="acme",
        subject=SUBJECT,
        reason="asked by letter",
        requested_at=NOW,
        finished_at=NOW + timedelta(minutes=2),
        gone_by=NOW + timedelta(days=9),
        found={"windows": 3, "dead_letters": 0, "shared_entities": 2},
        remains=("what patches wrote in tool.notes", "a message"),
    )
    assert receipt_lines(receipt) == [
        f"{SUBJECT[:12]}\tasked 2025-01-01T12:30:15+00:00\tdone 2025-01-01T12:32:15+00:00\t0 dead letters, 2 shared entities, 3 windows",
        "\tthe last bytes are deleted from the disks by 2025-01-10T12:30:15+00:00",
        "\tremains: what patches wrote in tool.notes",
        "\tremains: a message",
    ]


def test_an_erasure_under_way_says_so() -> None:
    begun = Erasure(tenant="acme", subject=SUBJECT, requested_at=NOW)
    assert receipt_lines(begun) == [f"{SUBJECT[:12]}\tasked 2025-01-01T12:30:15+00:00\tunder way\t-"]


def test_a_receipt_names_nobody() -> None:
    begun = Erasure(tenant="acme", subject=SUBJECT, requested_at=NOW)
    assert "ann" not in "\n".join(receipt_lines(begun))
