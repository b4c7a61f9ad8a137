"""Messages in WhatsApp's exports: the text that "Export chat" writes on iOS and Android, plain or in its ZIP archive."""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final
from zoneinfo import ZoneInfo

import orjson

from memory.messages.export_placeholders import is_export_placeholder
from varve.errors import ImportFileError
from varve.imports.files import ExportFile
from varve.imports.messages import NO_TEXT, DateOrder, Found, ImportOptions, Skipped
from varve.imports.whatsapp_lines import MARKS, ChatEntry, Dates, chat_entries

BY_WHATSAPP: Final = "written by WhatsApp: joins, calls, changes of the group"
PLACEHOLDER: Final = "in place of media, a deleted message, a call or a notice"
BEFORE_FIRST: Final = "lines before the first message"
_MARK: Final = "\u200e"
_WITHOUT_MARKS: Final = str.maketrans("", "", MARKS)
_MEDIA: Final = re.compile(
    r"<[^<>\n]{0,60}(?:medi|médi|mídi|multim|медиа|мультимед|وسائط|媒体|媒體|メディア|미디어|מדיה|πολυμ|मीडिया|สื่อ)[^<>\n]{0,60}>",
    re.IGNORECASE,
)
"""Placeholder of a medium on Android, in the language of the telephone."""
_ATTACHED: Final = re.compile(r"<[^<>\n:]{2,40}: ?\d{6,8}-[A-Z]+-[^<>\n]{1,120}>")
"""A file of the archive on iOS: ``<attached: 00000012-PHOTO-2023-12-31-23-59-59.jpg>``."""
_FILE_OF_CHAT: Final = re.compile(r"(?:IMG|VID|AUD|PTT|DOC|STK)-\d{8}-WA\d{4,}\.\w{2,5} \([^()\n]{3,40}\)")
"""A file of the archive on Android: ``IMG-20231231-WA0001.jpg (file attached)``."""
_EDITED: Final = re.compile(
    r"\u200e?<(?:this message was edited|diese nachricht wurde bearbeitet|se editó este mensaje|mensagem editada"
    r"|esta mensagem foi editada|ce message a été modifié|questo messaggio è stato modificato|dit bericht is bewerkt)\.?>$",
    re.IGNORECASE,
)
_SAID: Final = re.compile(r"\u200e(?:[^\W\d_]{3,12}:|.*https?://)")
"""Texts with a mark that people wrote nevertheless: polls (``POLL:``) and places (``Location: https://...``)."""
_CHAT: Final = "_chat.txt"
_CHAT_NAME: Final = re.compile(r".*WhatsApp.* (?:with|mit|con|avec|com|met|-) (?P<name>.+?)(?: ?\(\d+\))?", re.IGNORECASE)
_LAST: Final = 10_000
"""Number of different messages within which equal ones get different ids. Android's times have no seconds."""


def whatsapp_messages(file: ExportFile, options: ImportOptions) -> Iterator[Found]:
    """The messages of one chat. Without a user in the options, each sender is a user.

    Raises:
        ImportFileError: If the file is no export of WhatsApp, or the order of its dates is unknown; says where and what to do.
    """
    member = _chat_member(file)
    place = file.place(member)
    dates = Dates()
    for number, line in file.lines(member):
        dates.add(number, line)
    if dates.style is None:
        raise ImportFileError(f"{place}: no line begins with a date and a time as WhatsApp writes them; is --format right?")
    order = _order(dates, options, place)
    zone, session = ZoneInfo(options.time_zone), options.session or f"whatsapp-{_chat_name(file)}"
    ids = _Ids(session)
    for entry in chat_entries(file.lines(member), dates.style, order, place=place):
        text, left_out = _text_of(entry, has_marks=dates.style.is_bracketed)
        if left_out is not None:
            yield left_out
        if not text or entry.time is None or entry.sender is None:
            continue
        is_edited = bool(_EDITED.search(text))
        text = _EDITED.sub("", text).translate(_WITHOUT_MARKS).strip()
        if not text:
            yield Skipped(NO_TEXT)
            continue
        local = entry.time.replace(tzinfo=zone)
        yield {
            "user": options.user or entry.sender,
            "session": session,
            "id": ids.next(entry, text),
            "role": "user",
            "speaker": entry.sender,
            "text": text,
            "event_time": local.isoformat(),
            "time_zone": options.time_zone,
            **({"metadata": {"whatsapp": {"edited": True}}} if is_edited else {}),
        }


class _Ids:
    """Ids of messages, which follow from their contents: an export of the same chat at a later time has the same ids.

    Args:
        session: The session of the messages.
    """

    def __init__(self, session: str) -> None:
        self._session = session
        self._counts: OrderedDict[bytes, int] = OrderedDict()

    def next(self, entry: ChatEntry, text: str) -> str:
        content = [self._session, str(entry.time), entry.sender, text]
        digest = hashlib.sha256(orjson.dumps(content)).digest()
        count = self._counts.pop(digest, 0)
        self._counts[digest] = count + 1
        if len(self._counts) > _LAST:
            self._counts.popitem(last=False)
        return f"whatsapp-{digest.hex()[:32]}" + (f"-{count}" if count else "")


def _order(dates: Dates, options: ImportOptions, place: str) -> DateOrder:
    """The order of the numbers of a date."""
    orders: tuple[DateOrder, ...] = () if dates.style is None else dates.orders(dates.style)
    chosen = options.date_order
    if chosen is not None and orders != ("year-first",):
        others = [each for each in orders if each != chosen]
        if dates.invalid[chosen] > min((dates.invalid[each] for each in others), default=dates.count):
            line = dates.first_invalid[chosen]
            raise ImportFileError(f"{place}, line {line}: this date does not exist {chosen}: give another --date-order, or none")
        return chosen
    order = dates.order()
    if order is not None:
        return order
    if all(each in dates.first_invalid for each in orders):
        lines = " and ".join(f"line {dates.first_invalid[each]} is not {each}" for each in orders)
        raise ImportFileError(f"{place}: the dates have different orders: {lines}: give --date-order {orders[0]} or {orders[-1]}")
    raise ImportFileError(
        f"{place}, line {dates.differ}: the date may be day-first or month-first: give --date-order day-first or month-first"
    )


def _text_of(entry: ChatEntry, *, has_marks: bool) -> tuple[str, Skipped | None]:
    """The text that a person wrote, and what else is in the entry."""
    if entry.time is None:
        count = sum(1 for each in entry.lines if each.strip())
        return "", Skipped(BEFORE_FIRST, count) if count else None
    if entry.sender is None:
        return "", Skipped(BY_WHATSAPP)
    whole = "\n".join(entry.lines).strip()
    if not whole.translate(_WITHOUT_MARKS).strip():
        return "", Skipped(NO_TEXT)
    if _is_placeholder(whole):
        return "", Skipped(PLACEHOLDER)
    first, _, others = whole.partition("\n")
    if others.strip() and (_is_file(first) or (has_marks and first.startswith(_MARK) and _is_placeholder(first))):
        return others.strip(), Skipped(PLACEHOLDER)
    before, mark, last = whole.rpartition(_MARK)
    if has_marks and mark and before.strip(MARKS) and _is_placeholder(last):
        caption = "" if "•" in before.rpartition("\n")[2] else before.strip()
        return caption, Skipped(PLACEHOLDER)
    if has_marks and whole.startswith(_MARK) and not _SAID.match(whole):
        return "", Skipped(BY_WHATSAPP)
    return whole, None


def _is_placeholder(text: str) -> bool:
    bare = text.translate(_WITHOUT_MARKS).strip()
    return is_export_placeholder(bare) or bool(_MEDIA.fullmatch(bare)) or _is_file(bare)


def _is_file(line: str) -> bool:
    bare = line.translate(_WITHOUT_MARKS).strip()
    return bool(_FILE_OF_CHAT.fullmatch(bare)) or bool(_ATTACHED.fullmatch(bare))


def _chat_member(file: ExportFile) -> str | None:
    """The text in an archive or a folder; None for a plain file."""
    names = file.names()
    if not names and not file.path.is_dir():
        return None
    texts = [each for each in names if each.endswith(".txt")]
    chats = [each for each in texts if PurePosixPath(each).name == _CHAT] or [each for each in texts if "whatsapp" in each.lower()] or texts
    if len(chats) != 1:
        found = ", ".join(chats[:5]) or "none"
        raise ImportFileError(f"{file.path} must have one chat as text, but has {len(chats)} ({found}): unpack it, and import one text")
    return chats[0]


def _chat_name(file: ExportFile) -> str:
    """The name of the chat from the name of the file: ``WhatsApp Chat with Ann.txt``, ``WhatsApp Chat - Ann.zip``."""
    name = file.path.resolve().parent.name if file.path.name == _CHAT else file.path.resolve().stem
    found = _CHAT_NAME.fullmatch(name)
    return (found["name"] if found else name)[:200]
