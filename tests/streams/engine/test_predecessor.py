"""The note of a worker's member id, by which the next worker with its folder removes it from the group."""

from pathlib import Path

from structlog.testing import capture_logs

from streams.engine.predecessor import MemberNote
from tests.one_broker import one_broker

GROUP = "t.sessions"
NO_BROKER = one_broker(bootstrap="127.0.0.1:1", topic_prefix="t.", request_timeout_s=1.0)


async def events_of_a_start(folder: Path, *, group_instance_id: str | None = None) -> list[str]:
    """The log events of a worker that starts in a folder while no broker answers."""
    with capture_logs() as logs:
        await MemberNote(folder).remove_predecessor(GROUP, NO_BROKER.model_copy(update={"group_instance_id": group_instance_id}))
    return [each["event"] for each in logs]


async def test_without_a_note_no_broker_is_asked(tmp_path: Path) -> None:
    assert await events_of_a_start(tmp_path) == []


async def test_a_static_member_stays_in_its_group(tmp_path: Path) -> None:
    MemberNote(tmp_path).write("sessions-1-8f2a")
    assert await events_of_a_start(tmp_path, group_instance_id="sessions-1") == []


async def test_a_worker_starts_though_no_broker_answers(tmp_path: Path) -> None:
    MemberNote(tmp_path).write("faust-8f2a")
    assert await events_of_a_start(tmp_path) == ["predecessor_not_removed"]


def test_a_note_that_cannot_be_written_is_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    note = MemberNote(folder)
    with capture_logs() as logs:
        note.write("faust-8f2a")
    assert [each["event"] for each in logs] == ["member_not_noted"]
    folder.mkdir()
    note.write("faust-8f2a")
    assert (folder / "member").read_text() == "faust-8f2a"
