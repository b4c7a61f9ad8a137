"""Messages in the export of a Slack workspace: its ZIP archive, or the folder that it unpacks to.

The export has ``users.json``, lists of conversations (``channels.json`` and others), and a folder of days for each conversation. Texts keep
Slack's markup, which a tenant's setting ``unescape: [slack]`` removes; mentions and channels get their names.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, Final

from varve.errors import ImportFileError
from varve.imports.files import ExportFile, Item
from varve.imports.messages import NO_TEXT, Found, ImportOptions, Skipped, another_form

CHANGES: Final = "joins, leaves and other changes of a channel"
DELETED: Final = "deleted in Slack"
APPLIED: Final = "records of edits and deletions, which their messages have"
NO_AUTHOR: Final = "no author"
_LISTS: Final = ("channels.json", "groups.json", "mpims.json", "dms.json")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d\.json")
_SAID: Final = frozenset(
    {"", "thread_broadcast", "bot_message", "me_message", "file_share", "file_comment", "file_mention", "reply_broadcast"}
)
"""Subtypes of messages that somebody said. Others are events of the channel."""
_CHANGES: Final = ("message_changed", "message_deleted", "message_replied")
_TS: Final = re.compile(r"[0-9]{9,11}(?:\.[0-9]{1,6})?")
_MENTION: Final = re.compile(r"<(?P<mark>[@#])(?P<id>[A-Z0-9]{2,30})>")
_SLACKBOT: Final = "USLACKBOT"


@dataclass(frozen=True, slots=True)
class _Workspace:
    """The names in an export."""

    users: Mapping[str, str]
    bots: frozenset[str]
    """The users that are programs."""
    channels: Mapping[str, str]
    """Names of conversations by their ids."""
    ids: Mapping[str, str]
    """Ids of conversations by their folders."""


@dataclass(slots=True)
class _Changes:
    """The edits and deletions in one conversation that are their own records, by the time of their message."""

    edits: dict[str, Item] = field(default_factory=dict)
    """The newest form of each edited message."""
    deleted: set[str] = field(default_factory=set)


def slack_messages(file: ExportFile, options: ImportOptions) -> Iterator[Found]:
    """The messages of all conversations, one conversation after the other. Each thread is its own session.

    Without a user in the options, each author is a user, by the id in Slack.

    Raises:
        ImportFileError: If the file is no export of Slack; says where.
    """
    names = file.names()
    days = _days(names)
    if not days:
        raise ImportFileError(f"{file.path} has no folder of a channel with days, such as general/2024-05-31.json; is --format right?")
    workspace = _workspace(file, names)
    for folder, members in days.items():
        name, changes, applied = PurePosixPath(folder).name, _changes(file, members), set[str]()
        for item in file.items(members=members):
            time = str(_message(item)["ts"])
            newest = item
            if time in changes.edits and not _is_change(item.value):
                newest = changes.edits[time]
                applied.add(time)
            yield Skipped(DELETED) if time in changes.deleted else _found(newest, name, workspace, options)
        for time, item in changes.edits.items():
            # An export may have the edit of a message that is not in it.
            if time not in applied and time not in changes.deleted:
                yield _found(item, name, workspace, options)


def _found(item: Item, folder: str, workspace: _Workspace, options: ImportOptions) -> Found:
    fields, subtype = _message(item), str(item.value.get("subtype") or "")
    if _is_change(fields):
        return Skipped(APPLIED)
    time = _ts(fields, item)
    if subtype == "tombstone":
        return Skipped(DELETED)
    if subtype not in _SAID or fields.get("type", "message") != "message":
        return Skipped(CHANGES)
    text, edited = _text(fields), _edited(fields)
    if not text.strip():
        return Skipped(NO_TEXT)
    author, speaker = _author(fields, workspace)
    if author is None:
        return Skipped(NO_AUTHOR)
    channel = workspace.ids.get(folder, folder)
    thread = fields.get("thread_ts")
    about = {"channel": workspace.channels.get(channel, folder), "author": author, **({"edited": edited} if edited else {})}
    is_bot = bool(fields.get("bot_id")) or subtype == "bot_message" or author in workspace.bots
    return {
        "user": options.user or author,
        "session": "-".join(["slack", channel, *([thread] if isinstance(thread, str) and thread else [])]),
        "id": f"{channel}-{time}",
        "role": "user",
        "speaker": speaker,
        "text": _with_names(text, workspace),
        "event_time": datetime.fromtimestamp(float(time), UTC).isoformat(),
        "metadata": {"slack": about},
        **({"automated": True} if is_bot else {}),
    }


def _days(names: list[str]) -> dict[str, list[str]]:
    """The files of each conversation's folder, in order."""
    found: dict[str, list[str]] = {}
    for name in names:
        path = PurePosixPath(name)
        if _DAY.fullmatch(path.name) and len(path.parts) > 1:
            found.setdefault(str(path.parent), []).append(name)
    return found


def _workspace(file: ExportFile, names: list[str]) -> _Workspace:
    def named(*wanted: str) -> Iterator[Mapping[str, Any]]:
        members = [each for each in names if PurePosixPath(each).name in wanted and len(PurePosixPath(each).parts) <= 2]
        for item in file.items(members=members):
            if not isinstance(item.value, Mapping) or not isinstance(item.value.get("id"), str):
                raise another_form("an entry of Slack's lists (an object with id)", item)
            yield item.value

    users, bots = {}, {_SLACKBOT}
    for user in named("users.json"):
        users[user["id"]] = _display_name(user) or user["id"]
        if user.get("is_bot"):
            bots.add(user["id"])
    channels, ids = {}, {}
    for channel in named(*_LISTS):
        name = str(channel.get("name") or channel["id"])
        channels[channel["id"]] = name
        ids[name] = channel["id"]
    return _Workspace(users, frozenset(bots), channels, ids)


def _changes(file: ExportFile, members: list[str]) -> _Changes:
    changes = _Changes()
    for item in file.items(members=members):
        fields = _message(item)
        if fields.get("subtype") == "message_deleted":
            changes.deleted.add(str(fields.get("deleted_ts") or _inner(fields, "previous_message").get("ts")))
        elif fields.get("subtype") == "message_changed":
            inner = {"user": fields.get("user"), **_inner(fields, "message")}
            if inner.get("subtype") == "tombstone":
                changes.deleted.add(str(inner.get("ts")))
            elif "ts" in inner:
                edited = {"ts": fields["ts"]} if not _edited(inner) else inner["edited"]
                changes.edits[str(inner["ts"])] = Item({**inner, "edited": edited}, item.place)
    return changes


def _is_change(fields: Mapping[str, Any]) -> bool:
    return fields.get("subtype") in _CHANGES


def _message(item: Item) -> Mapping[str, Any]:
    if not isinstance(item.value, Mapping) or "ts" not in item.value:
        raise another_form("a message of Slack (an object with ts)", item)
    fields: Mapping[str, Any] = item.value
    return fields


def _ts(fields: Mapping[str, Any], item: Item) -> str:
    """The time, which is the id of a message in its conversation."""
    ts = fields["ts"]
    if not isinstance(ts, str) or not _TS.fullmatch(ts):
        raise ImportFileError(f"{item.place}: {ts!r} is no time of Slack, such as '1700000000.000100'")
    return ts


def _inner(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = fields.get(name)
    return found if isinstance(found, Mapping) else {}


def _edited(fields: Mapping[str, Any]) -> str | None:
    ts = _inner(fields, "edited").get("ts")
    return None if ts is None else str(ts)


def _author(fields: Mapping[str, Any], workspace: _Workspace) -> tuple[str | None, str]:
    """The id and the name of the author."""
    profile, bot = _inner(fields, "user_profile"), _inner(fields, "bot_profile")
    author = next((fields[each] for each in ("user", "bot_id", "username") if isinstance(fields.get(each), str) and fields[each]), None)
    names = (fields.get("username"), workspace.users.get(str(author)), _display_name({"profile": profile}), bot.get("name"), author)
    return author, str(next(filter(None, names), ""))


def _display_name(user: Mapping[str, Any]) -> str | None:
    profile = _inner(user, "profile")
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
    return next((each for each in names if isinstance(each, str) and each.strip()), None)


def _text(fields: Mapping[str, Any]) -> str:
    """The text; of an app's message without one, the texts of its attachments. Files are named."""
    text = fields.get("text")
    parts = [text] if isinstance(text, str) and text.strip() else []
    if not parts:
        attachments = fields.get("attachments")
        for attachment in attachments if isinstance(attachments, list) else []:
            if isinstance(attachment, Mapping):
                parts += [value for name in ("fallback", "text", "title") if isinstance(value := attachment.get(name), str) and value][:1]
    files = fields.get("files")
    for file in files if isinstance(files, list) else []:
        name = file.get("name") or file.get("title") if isinstance(file, Mapping) else None
        parts.append(f"[file {name}]" if name else "[file]")
    return "\n".join(parts)


def _with_names(text: str, workspace: _Workspace) -> str:
    """Adds names to mentions, as Slack writes them: ``<@U1>`` becomes ``<@U1|Ann>``."""

    def label(found: re.Match[str]) -> str:
        name = (workspace.users if found["mark"] == "@" else workspace.channels).get(found["id"])
        clean = re.sub(r"[<>|\n]", " ", name or "").strip()
        return f"<{found['mark']}{found['id']}|{clean}>" if clean else found[0]

    return _MENTION.sub(label, text)
