"""Cuts sessions of a data set into windows, as the sessions stage would at its message cap."""

from collections.abc import Iterable, Iterator, Sequence

from memory.ids import window_id
from memory.records import Message, Window
from runtime.settings import SessionSettings


def windows_of(sessions: Iterable[Sequence[Message]]) -> Iterator[Window]:
    """The windows of one user's sessions, which follow each other in the log. A session without messages has none.

    Args:
        sessions: The messages of each session, in order.
    """
    offset = 0
    for messages in sessions:
        yield from session_windows(messages, first_offset=offset)
        offset += len(messages)


def session_windows(messages: Sequence[Message], *, first_offset: int) -> Iterator[Window]:
    """The windows of one session. Their ids contain the user, since two users may have sessions of one name.

    Args:
        messages: All of one tenant, user and session, in order.
        first_offset: Offset of the first message.
    """
    cap = SessionSettings().message_cap
    for sequence, start in enumerate(range(0, len(messages), cap)):
        turns = list(messages[start : start + cap])
        first = turns[0]
        yield Window(
            id=window_id(first.tenant, f"{first.user}/{first.session}", sequence),
            tenant=first.tenant,
            user=first.user,
            session=first.session,
            sequence=sequence,
            messages=turns,
            closed_by="flush" if start + cap >= len(messages) else "message_count",
            source_partition=0,
            first_offset=first_offset + start,
            last_offset=first_offset + start + len(turns) - 1,
        )
