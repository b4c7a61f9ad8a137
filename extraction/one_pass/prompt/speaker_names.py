"""The names of the speakers in a prompt: who of them is the user, and which of two with the same name."""

from collections.abc import Iterator
from typing import Final

from memory.records import Message, Window
from memory.texts.fencing import one_line

_LONGEST: Final = 60
_MAX_NAMES: Final = 8
_MAX_USERS: Final = 20
"""Users of a shared window whose names the prompt lists."""
_NO_FRAME: Final = str.maketrans("[]:", "()·")
"""Keeps a name from looking like the number and the speaker of another message: ``Bob: [4] Ann``."""
_SEVERAL_NAMES: Final = "If these are several people, a patch's text says whose it is."
_IN_BRACKETS: Final = "Brackets after a name tell speakers of one name apart; they are no part of the name."


class SpeakerNames:
    """The name of each message's speaker in the prompt.

    A name that several speakers have is followed by the user's id in a shared window, and by the role in others: ``Lena (lena-2)``.

    Args:
        window: The window.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        speakers = {(self._name(each).casefold(), self._identity(each)) for each in window.messages if each.role != "tool"}
        names = [name for name, _ in speakers]
        self._ambiguous = {name for name in names if names.count(name) > 1}

    def of(self, message: Message) -> str:
        """The speaker of a message."""
        name = self._name(message)
        return f"{name} ({self._identity(message)})" if name.casefold() in self._ambiguous else name

    def introduction(self) -> Iterator[str]:
        """The names under which the user speaks, or each user of a shared window."""
        spoken: dict[str, dict[str, None]] = {}
        for each in self._window.messages:
            if each.role == "user" and (each.speaker or self._window.users):
                spoken.setdefault(each.user if self._window.users else "", {})[self.of(each)] = None
        for user, names in list(spoken.items())[:_MAX_USERS]:
            subject = f"User {one_line(user)[:_LONGEST]}" if user else "The user"
            more = ["others"] if len(names) > _MAX_NAMES else []
            yield f"{subject} speaks as {', '.join([*map(_as_one_name, list(names)[:_MAX_NAMES]), *more])}"
            if len(names) > 1:
                yield _SEVERAL_NAMES
        if self._window.users:
            yield "A patch changes the entities of the user of its first message only."
        if self._ambiguous:
            yield _IN_BRACKETS

    def _name(self, message: Message) -> str:
        unnamed = message.user if self._window.users and message.role == "user" else message.role
        return one_line(message.speaker or unnamed)[:_LONGEST].translate(_NO_FRAME)

    def _identity(self, message: Message) -> str:
        return one_line(message.user)[:_LONGEST] if self._window.users and message.role == "user" else message.role


def _as_one_name(name: str) -> str:
    """A name with a comma in quotation marks, so that it does not look like two."""
    return f'"{name}"' if "," in name else name
