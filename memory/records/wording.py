"""The texts of an event or memory: the text to show, and the text to search.

``content`` of an event that a person stated is what they said, word for word, so it contains "I" and "yesterday". A question names the
person and the day. Therefore the index and the ranking use ``search_text``, in which names and days are resolved; nothing else does.
"""

from typing import Protocol


class Worded(Protocol):
    """An event or a memory."""

    @property
    def content(self) -> str:
        """The text to show."""
        ...

    @property
    def speaker(self) -> str | None:
        """The person whose own words the content is; None if a model or a rule worded it."""
        ...

    @property
    def search_text(self) -> str | None:
        """The message with names and days resolved."""
        ...


def indexed_text(worded: Worded) -> str:
    """The text that is embedded, searched and compared: of a quoted message its search text, otherwise the content."""
    if worded.speaker is None:
        return worded.content
    return worded.search_text or attributed_text(worded)


def further_indexed_text(worded: Worded) -> str | None:
    """The text that is searched in addition: for an event that a model worded, the text of its message."""
    return worded.search_text if worded.speaker is None else None


def attributed_text(worded: Worded) -> str:
    """The content after the name of its speaker: "Ann: I moved to Bergen"."""
    return worded.content if worded.speaker is None else f"{worded.speaker}: {worded.content}"
