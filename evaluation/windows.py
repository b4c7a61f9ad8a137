"""Cuts a session of a data set into windows, as the sessions stage would at its message cap."""

from collections.abc import Iterator, Sequence

from memory.ids import window_id
from memory.records import Message, Window
from runtime.settings import SessionSettings


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
