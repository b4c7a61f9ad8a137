"""The changes to erasures. Pure: each reads a draft, and puts what becomes of it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter, ValidationError

from control.draft import Draft, changed, new
from control.erasure import Erasure, subject_of
from control.errors import ChangeRefusedError, ErasureUnderWayError
from memory.records.message import Name

API_KEYS: Final = "api_keys"
"""What a receipt calls the keys that were bound to the user."""
_NAMED: Final = 3
"""Erasures that a refusal names."""
_NAME: Final[TypeAdapter[str]] = TypeAdapter(Name)


def begin_erasure(draft: Draft, tenant: str, user: str, *, at: datetime, reason: str = "") -> Erasure:
    """Notes that a user is to be erased: for the first time, or once more. The user's own API keys open nothing from then on.

    Args:
        draft: The change.
        tenant: Whose user.
        user: Who.
        at: When that was asked for.
        reason: Why, for the audit. It is kept for ever.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the reason does not fit, or nobody can have such a name.
    """
    owner = draft.tenant(tenant)
    try:
        _NAME.validate_python(user)
    except ValidationError as error:
        raise ChangeRefusedError(f"no user has the name {user[:80]!r}: {error.errors()[0]['msg']}") from error
    subject = subject_of(tenant, user)
    before = draft.erasure_of(subject)
    others_keys = tuple(each for each in owner.keys if each.user != user)
    revoked = len(owner.keys) - len(others_keys)
    found = {} if before is None else before.found
    asked = {"requested_at": at, "reason": reason, "finished_at": None, "gone_by": None}
    if revoked:
        draft.put(changed(owner, keys=others_keys))
        asked["found"] = found | {API_KEYS: found.get(API_KEYS, 0) + revoked}
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
    begun_at: datetime,
    at: datetime,
    gone_by: datetime,
    found: Mapping[str, int],
    remains: tuple[str, ...],
) -> Erasure:
    """Writes an erasure's receipt. If it was asked for once more since it was begun, that is still to be carried out.

    Args:
        draft: The change.
        subject: The user's digest.
        begun_at: When what was carried out was asked for.
        at: When all was done.
        gone_by: When Kafka will have removed the last of its bytes.
        found: How much there was, by what it was.
        remains: What could not be erased.

    Raises:
        ChangeRefusedError: If there is no such erasure.
    """
    before = _found(draft, subject)
    when = {"finished_at": at, "gone_by": gone_by} if before.requested_at <= begun_at else {}
    revoked = {API_KEYS: before.found[API_KEYS]} if API_KEYS in before.found else {}
    after = changed(before, **when, found={**found, **revoked}, remains=remains)
    draft.put(after)
    return after


def require_none_under_way(erasures: Iterable[Erasure], what: str) -> None:
    """Refuses what must not happen while an erasure is under way: one that has begun and has no receipt.

    Args:
        erasures: Those that matter.
        what: What is refused otherwise, as the subject of a sentence: "a rebuild".

    Raises:
        ErasureUnderWayError: If one of them is under way; says which, and what to do.
    """
    under_way = sorted((each for each in erasures if each.finished_at is None), key=lambda each: each.requested_at)
    if not under_way:
        return
    named = [f"user {each.subject[:12]} of tenant {each.tenant} since {each.requested_at:%Y-%m-%d %H:%M}Z" for each in under_way[:_NAMED]]
    more = f" and {len(under_way) - _NAMED} more" if len(under_way) > _NAMED else ""
    raise ErasureUnderWayError(
        f"{what} has to wait for the erasures that are under way: {'; '.join(named)}{more}. Let all stages run until a query service has "
        "finished them, or finish them with `varve erase TENANT USER`; `varve erasures list TENANT` shows how they stand"
    )


def _further(before: Erasure, topic: str, offsets: Mapping[int, int]) -> tuple[int, ...]:
    known = before.reaches.get(topic, ())
    count = max(len(known), max(offsets, default=-1) + 1)
    return tuple(max(known[each] if each < len(known) else 0, offsets.get(each, 0)) for each in range(count))


def _found(draft: Draft, subject: str) -> Erasure:
    erasure = draft.erasure_of(subject)
    if erasure is None:
        raise ChangeRefusedError(f"there is no erasure of the user whose digest is {subject}; `varve erasures list` shows them")
    return erasure
