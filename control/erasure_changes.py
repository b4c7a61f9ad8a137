"""Changes to erasures. Pure: each function reads and writes a draft."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from control.draft import Draft, changed, new
from control.erasure import Erasure, require_user_id, subject_of
from control.errors import ChangeRefusedError, ErasureUnderWayError, LegalHoldError

API_KEYS: Final = "api_keys"
"""Name of the user's API keys in a receipt."""
_NAMED: Final = 3
"""Number of erasures named in an error."""
_TICK: Final = timedelta(milliseconds=1)


def begin_erasure(draft: Draft, tenant: str, user: str, *, at: datetime, reason: str = "") -> Erasure:
    """Begins or repeats the erasure of a user, and revokes the user's API keys.

    Args:
        draft: The change.
        tenant: The user's tenant.
        user: The user.
        at: Time of the request. A repeated one counts as later than the one before.
        reason: Reason for the audit log, which is kept forever.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the reason or the user's name is invalid.
        LegalHoldError: If a legal hold is in force on the user or the tenant.
    """
    owner = draft.tenant(tenant)
    require_user_id(user)
    subject = subject_of(tenant, user)
    before = draft.erasure_of(subject)
    require_no_hold(draft, tenant, subject)
    others_keys = tuple(each for each in owner.keys if each.user != user)
    revoked = len(owner.keys) - len(others_keys)
    found = {} if before is None else before.found
    # A run ends only the requests up to its own, so a request never precedes an earlier one, even if a clock was set back.
    at = at if before is None else max(at, before.requested_at + _TICK)
    asked = {"requested_at": at, "reason": reason, "finished_at": None, "gone_by": None}
    if revoked:
        draft.put(changed(owner, keys=others_keys))
        asked["found"] = found | {API_KEYS: found.get(API_KEYS, 0) + revoked}
    after = new(Erasure, tenant=tenant, subject=subject, **asked) if before is None else changed(before, **asked)
    draft.put(after)
    return after


def require_no_hold(draft: Draft, tenant: str, subject: str) -> None:
    """Raises an error if a legal hold is in force on a user.

    Args:
        draft: The control log.
        tenant: The user's tenant.
        subject: The user's digest.

    Raises:
        LegalHoldError: If one is; says since when, why, and what to do.
    """
    hold = draft.hold_on(tenant, subject)
    if hold is not None:
        whose = "user" if hold.subject == subject else "tenant"
        raise LegalHoldError(
            f"nothing is erased: a legal hold on the {whose} is in force since {hold.placed_at:%Y-%m-%d %H:%M}Z ({hold.reason}); "
            "request the erasure again once `varve holds release` has released the hold"
        )


def extend_erasure(draft: Draft, subject: str, reaches: Mapping[str, Mapping[int, int]]) -> Erasure:
    """Extends an erasure to later offsets.

    Args:
        draft: The change.
        subject: The user's digest.
        reaches: End offsets of the erased records, by topic (without its prefix) and partition.

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
    """Writes an erasure's receipt. If the erasure was requested again meanwhile, it stays unfinished.

    Args:
        draft: The change.
        subject: The user's digest.
        begun_at: Time of the request that was executed.
        at: Time of completion.
        gone_by: Time at which Kafka and the embedded vector store will have deleted the last bytes.
        found: Number of erased items by kind.
        remains: Descriptions of data that could not be erased.

    Raises:
        ChangeRefusedError: If there is no such erasure.
    """
    before = _found(draft, subject)
    # What was sent before the request was sent before the end, even if the clock was set back meanwhile.
    when = {"finished_at": max(at, before.requested_at), "gone_by": gone_by} if before.requested_at <= begun_at else {}
    revoked = {API_KEYS: before.found[API_KEYS]} if API_KEYS in before.found else {}
    after = changed(before, **when, found={**found, **revoked}, remains=remains)
    draft.put(after)
    return after


def require_none_unfinished(erasures: Iterable[Erasure], what: str) -> None:
    """Raises an error if any of the erasures is unfinished.

    Args:
        erasures: The erasures to check.
        what: The action that must wait, as the subject of a sentence: "a rebuild".

    Raises:
        ErasureUnderWayError: If one is unfinished; names it and the remedy.
    """
    under_way = sorted((each for each in erasures if each.finished_at is None), key=lambda each: each.requested_at)
    if not under_way:
        return
    named = [f"user {each.subject[:12]} of tenant {each.tenant} since {each.requested_at:%Y-%m-%d %H:%M}Z" for each in under_way[:_NAMED]]
    more = f" and {len(under_way) - _NAMED} more" if len(under_way) > _NAMED else ""
    raise ErasureUnderWayError(
        f"{what} has to wait for unfinished erasures: {'; '.join(named)}{more}. Let all stages run until a query service has "
        "finished them, or finish them with `varve erase TENANT USER`; `varve erasures list TENANT` shows their state"
    )


def _further(before: Erasure, topic: str, offsets: Mapping[int, int]) -> tuple[int, ...]:
    known = before.reaches.get(topic, ())
    count = max(len(known), max(offsets, default=-1) + 1)
    return tuple(max(known[each] if each < len(known) else 0, offsets.get(each, 0)) for each in range(count))


def _found(draft: Draft, subject: str) -> Erasure:
    erasure = draft.erasure_of(subject)
    if erasure is None:
        raise ChangeRefusedError(f"there is no erasure of the user with digest {subject}; `varve erasures list` shows them")
    return erasure
