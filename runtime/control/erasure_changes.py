"""The changes to erasures. Pure: each reads a draft, and puts what becomes of it."""

from collections.abc import Mapping
from datetime import datetime

from runtime.control.draft import Draft, changed, new
from runtime.control.erasure import Erasure, subject_of
from runtime.errors import ChangeRefusedError


def begin_erasure(draft: Draft, tenant: str, user: str, *, at: datetime, reason: str = "") -> Erasure:
    """Notes that a user is to be erased: for the first time, or once more.

    Args:
        draft: The change.
        tenant: Whose user.
        user: Who.
        at: When that was asked for.
        reason: Why, for the audit. It is kept for ever.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the reason does not fit.
    """
    draft.tenant(tenant)
    subject = subject_of(tenant, user)
    before = draft.erasure_of(subject)
    asked = {"requested_at": at, "reason": reason, "finished_at": None, "gone_by": None}
    after = new(Erasure, tenant=tenant, subject=subject, **asked) if before is None else changed(before, **asked)
    draft.put(after)
    return after


def extend_erasure(draft: Draft, subject: str, reaches: Mapping[str, Mapping[int, int]]) -> Erasure:
    """Has an erasure reach further.

    Args:
        draft: The change.
        subject: The user's digest.
        reaches: By topic without its prefix and by partition, the offset behind what is erased.

    Raises:
        ChangeRefusedError: If there is no such erasure.
    """
    before = _found(draft, subject)
    after = changed(before, reaches=before.reaches | {topic: _further(before, topic, offsets) for topic, offsets in reaches.items()})
    draft.put(after)
    return after


def finish_erasure(
    draft: Draft,
    subject: str,
    *,
    at: datetime,
    gone_by: datetime,
    found: Mapping[str, int],
    remains: tuple[str, ...],
) -> Erasure:
    """Writes an erasure's receipt.

    Args:
        draft: The change.
        subject: The user's digest.
        at: When all was done.
        gone_by: When Kafka will have removed the last of its bytes.
        found: How much there was, by what it was.
        remains: What could not be erased.

    Raises:
        ChangeRefusedError: If there is no such erasure.
    """
    after = changed(_found(draft, subject), finished_at=at, gone_by=gone_by, found=dict(found), remains=remains)
    draft.put(after)
    return after


def _further(before: Erasure, topic: str, offsets: Mapping[int, int]) -> tuple[int, ...]:
    known = before.reaches.get(topic, ())
    count = max(len(known), max(offsets, default=-1) + 1)
    return tuple(max(known[each] if each < len(known) else 0, offsets.get(each, 0)) for each in range(count))


def _found(draft: Draft, subject: str) -> Erasure:
    erasure = draft.erasure_of(subject)
    if erasure is None:
        raise ChangeRefusedError(f"there is no erasure of the user whose digest is {subject}; `varve erasures list` shows them")
    return erasure
