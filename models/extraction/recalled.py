"""Knows again what a recall put into the conversation, so that memories do not feed on themselves."""

import re
from typing import Final

from memory.hashing import content_hash
from memory.records import Message

_LIST_MARK: Final = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)])\s+")


def is_recalled(message: Message, hashes: frozenset[str]) -> bool:
    """Whether a message holds nothing but what recalls returned: marked by the client, or known by its content's hash.

    Args:
        message: A message of the window.
        hashes: :func:`memory.hashing.content_hash` of the contents that recalls returned lately.
    """
    return message.from_recall or (bool(hashes) and bool(message.text.strip()) and not without_recalled(message.text, hashes))


def without_recalled(text: str, hashes: frozenset[str]) -> str:
    """The text without what recalls returned: nothing of it, or without the lines (list marks aside) that are such contents."""
    if not hashes:
        return text
    if content_hash(text) in hashes:
        return ""
    lines = text.splitlines()
    kept = [line for line in lines if not _is_echo(line, hashes)]
    return text if len(kept) == len(lines) else "\n".join(kept).strip()


def _is_echo(line: str, hashes: frozenset[str]) -> bool:
    return content_hash(line) in hashes or content_hash(_LIST_MARK.sub("", line)) in hashes
