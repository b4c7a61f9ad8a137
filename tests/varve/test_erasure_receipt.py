"""An erasure's receipt as people read it."""

from datetime import UTC, datetime, timedelta

from control.erasure import Erasure, subject_of
from varve.cli.erasures import receipt_lines

NOW = datetime(2025, 1, 1, 12, 30, 15, 999_999, tzinfo=UTC)
SUBJECT = subject_of("acme", "ann")


def test_a_finished_erasure_reports_the_erased_records() -> None:
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


def test_a_running_erasure_is_reported() -> None:
    begun = Erasure(tenant="acme", subject=SUBJECT, requested_at=NOW)
    assert receipt_lines(begun) == [f"{SUBJECT[:12]}\tasked 2025-01-01T12:30:15+00:00\tunder way\t-"]


def test_a_receipt_contains_no_name() -> None:
    begun = Erasure(tenant="acme", subject=SUBJECT, requested_at=NOW)
    assert "ann" not in "\n".join(receipt_lines(begun))
