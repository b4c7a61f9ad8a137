from typing import Any

from varve_integrations.recent import RecentMessages


def message(message_id: str, user: str = "ann") -> dict[str, Any]:
    return {"id": message_id, "user": user}


def tail(*ids: str) -> list[dict[str, Any]]:
    return [{"window_sequence": 0, "message": message(each)} for each in ids]


def ids(recent: RecentMessages, *shown: str) -> list[str]:
    return [each["id"] for each in recent.of(tail(*shown))]


def test_own_messages_are_seen_at_once_and_once() -> None:
    recent = RecentMessages("ann")
    recent.sent([message("2"), message("3")])
    assert ids(recent, "1") == ["1", "2", "3"]
    assert ids(recent, "1", "2") == ["1", "2", "3"]
    assert ids(recent, "1", "2", "3") == ["1", "2", "3"]
    assert ids(recent, "3", "4") == ["3", "4"], "older ones are no longer shown"


def test_an_unread_closed_window_restores_nothing() -> None:
    recent = RecentMessages("ann")
    recent.sent([message("1"), message("2"), message("3")])
    assert ids(recent, "3") == ["3"]


def test_deleted_messages_and_other_users_are_hidden() -> None:
    recent = RecentMessages("ann")
    recent.sent([message("2")])
    recent.deleted("2")
    assert recent.of([*tail("1", "2"), {"message": message("x", user="bob")}]) == [message("1")]
