"""Exports of Slack workspaces: threads, edits, deletions, joins, apps and names."""

import json
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.messages.markup import without_markup
from memory.records import Message
from varve.errors import ImportFileError
from varve.imports.files import ExportFile
from varve.imports.messages import NO_TEXT, ImportOptions, Skipped
from varve.imports.slack import APPLIED, CHANGES, DELETED, slack_messages

USERS = [
    {"id": "U1", "name": "ann", "profile": {"display_name": "Ann", "real_name": "Ann Berg"}},
    {"id": "U2", "name": "bo", "profile": {"display_name": "", "real_name": "Bo Dahl"}},
    {"id": "U3", "name": "ci", "is_bot": True, "profile": {"real_name": "CI"}},
]
FILES: dict[str, Any] = {
    "users.json": USERS,
    "channels.json": [{"id": "C1", "name": "general"}],
    "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
    "integration_logs.json": [],
    "general/2024-05-06.json": [
        {"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> has joined the channel", "ts": "1715000000.000100"},
        {"type": "message", "user": "U1", "text": "Hi <@U2>, see <#C1> &amp; *this*", "ts": "1715000001.000200"},
        {"type": "message", "user": "U2", "text": "Lunch?", "ts": "1715000002.000300", "thread_ts": "1715000002.000300", "reply_count": 1},
        {"type": "message", "subtype": "bot_message", "bot_id": "B1", "username": "build", "text": "", "ts": "1715000003.0",
         "attachments": [{"fallback": "Build passed"}]},
        {"type": "message", "user": "U3", "text": "Done", "ts": "1715000004.0"},
        {"type": "message", "subtype": "tombstone", "user": "U1", "text": "This message was deleted.", "ts": "1715000005.0"},
        {"type": "message", "user": "U1", "text": "", "files": [{"name": "plan.pdf"}], "ts": "1715000006.0"},
        {"type": "message", "user": "U1", "text": "At nine", "edited": {"user": "U1", "ts": "1715000009.0"}, "ts": "1715000007.0"},
        {"type": "message", "user": "U1", "text": "At ten", "ts": "1715000008.0"},
        {"type": "message", "user": "U1", "text": "Secret", "ts": "1715000008.5"},
        {"type": "message", "user": "U1", "text": " ", "ts": "1715000008.7"},
    ],
    "general/2024-05-07.json": [
        {"type": "message", "user": "U1", "text": "Yes", "ts": "1715080000.0", "thread_ts": "1715000002.000300", "parent_user_id": "U2"},
        {"type": "message", "subtype": "message_changed", "ts": "1715080001.0",
         "message": {"type": "message", "user": "U1", "text": "At eleven", "ts": "1715000008.0"}},
        {"type": "message", "subtype": "message_deleted", "ts": "1715080002.0", "deleted_ts": "1715000008.5"},
        {"type": "message", "subtype": "message_changed", "ts": "1715080003.0",
         "message": {"type": "message", "user": "U2", "text": "Only its edit is here", "ts": "1714000000.0"}},
    ],
    "D1/2024-05-06.json": [{"type": "message", "user": "U2", "text": "A secret", "ts": "1715000010.0"}],
}  # fmt: skip


def a_folder(path: Path, files: dict[str, Any]) -> Path:
    for name, value in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(json.dumps(value))
    return path


def read(path: Path, options: ImportOptions | None = None) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The messages by text, and the reasons for the others."""
    all_found = list(slack_messages(ExportFile(path), options or ImportOptions()))
    messages = [each for each in all_found if isinstance(each, dict)]
    for message in messages:
        Message.model_validate({**message, "tenant": "t"})
    return {each["text"]: each for each in messages}, [each.reason for each in all_found if isinstance(each, Skipped)]


def test_messages_keep_times_ids_and_authors(tmp_path: Path) -> None:
    messages, _ = read(a_folder(tmp_path, FILES))
    message = messages["Hi <@U2|Bo Dahl>, see <#C1|general> &amp; *this*"]
    assert (message["user"], message["speaker"], message["session"]) == ("U1", "Ann", "slack-C1")
    assert (message["id"], message["event_time"]) == ("C1-1715000001.000200", "2024-05-06T12:53:21.000200+00:00")
    assert without_markup(message["text"], ["slack"]) == "Hi @Bo Dahl, see #general & *this*"
    assert messages["A secret"]["session"] == "slack-D1"
    assert messages["[file plan.pdf]"]["user"] == "U1"


def test_a_thread_is_one_session_over_days(tmp_path: Path) -> None:
    messages, _ = read(a_folder(tmp_path, FILES))
    assert {messages[each]["session"] for each in ("Lunch?", "Yes")} == {"slack-C1-1715000002.000300"}


def test_edits_and_deletions_are_applied(tmp_path: Path) -> None:
    messages, reasons = read(a_folder(tmp_path, FILES))
    assert messages["At eleven"]["id"] == "C1-1715000008.0"
    assert messages["At eleven"]["metadata"]["slack"]["edited"] == "1715080001.0"
    assert messages["At nine"]["metadata"]["slack"]["edited"] == "1715000009.0"
    assert messages["Only its edit is here"]["user"] == "U2"
    assert not messages.keys() & {"At ten", "Secret", "This message was deleted."}
    assert sorted(reasons) == sorted([CHANGES, DELETED, DELETED, NO_TEXT, APPLIED, APPLIED, APPLIED])


def test_apps_are_automated(tmp_path: Path) -> None:
    messages, _ = read(a_folder(tmp_path, FILES))
    assert {text for text, each in messages.items() if each.get("automated")} == {"Build passed", "Done"}
    assert messages["Build passed"]["speaker"] == "build"


def test_one_user_may_own_all(tmp_path: Path) -> None:
    messages, _ = read(a_folder(tmp_path, FILES), ImportOptions(user="ann"))
    assert {each["user"] for each in messages.values()} == {"ann"}
    assert messages["Lunch?"]["speaker"] == "Bo Dahl"


def test_archive_and_folder_have_the_same_messages(tmp_path: Path) -> None:
    folder, path = a_folder(tmp_path / "folder", FILES), tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in FILES.items():
            archive.writestr(f"export/{name}", json.dumps(value))
        archive.writestr("__MACOSX/export/general/2024-05-06.json", "rubbish")
    assert read(path) == read(folder)


def test_the_digest_of_a_folder_follows_its_content(tmp_path: Path) -> None:
    first = ExportFile(a_folder(tmp_path / "a", FILES)).digest()
    assert ExportFile(a_folder(tmp_path / "b", FILES)).digest() == first
    assert ExportFile(a_folder(tmp_path / "b", {"general/2024-05-08.json": []})).digest() != first


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("general/2024-05-06.json", [{"text": "x"}], r"general/2024-05-06\.json, item 1 is not a message of Slack"),
        ("general/2024-05-06.json", [{"ts": "soon", "user": "U1", "text": "x"}], r"item 1: 'soon' is no time of Slack"),
        ("users.json", [7], r"users\.json, item 1 is not an entry"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, name: str, value: Any, reason: str) -> None:
    with pytest.raises(ImportFileError, match=reason):
        read(a_folder(tmp_path, {**FILES, name: value}))


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFileError, match="no folder of a channel with days"):
        read(a_folder(tmp_path, {"users.json": USERS}))


values = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.lists(st.integers(), max_size=2), st.just({}))


@given(st.integers(0, 10), st.sampled_from(["type", "subtype", "user", "text", "ts", "thread_ts", "edited", "files", "bot_id"]), values)
def test_damaged_messages_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, index: int, name: str, value: Any) -> None:
    files = deepcopy(FILES)
    files["general/2024-05-06.json"][index][name] = value
    try:
        messages, reasons = read(a_folder(tmp_path_factory.mktemp("slack"), files))
    except ImportFileError:
        return
    assert len(messages) + len(reasons) >= 15
