"""Legal holds in the control log. Pure: each function reads and writes a draft.

A hold stops retention, and an erasure of the held user is refused: it is not queued, because a queue would need the user's name, which the
control log must not keep, and because the request may have lost its reason by the time of the release.
"""

from datetime import datetime

from control.draft import Draft, changed, new
from control.erasure import require_user_id, subject_of
from control.errors import ChangeRefusedError
from control.hold import ALL_USERS, Hold


def place_hold(draft: Draft, tenant: str, user: str | None, *, at: datetime, by: str, reason: str) -> Hold:
    """Places a hold on a user, or on all users of a tenant; changes the reason of a hold in force.

    Args:
        draft: The change.
        tenant: The tenant.
        user: The user. None: all users of the tenant.
        at: Time of the request.
        by: The actor.
        reason: The reason, for example the reference of the case. It is kept forever: it must not name a person.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the reason is missing or invalid, no message can have the user, or an erasure of a user to be held is under
            way.
    """
    draft.tenant(tenant)
    if user is not None:
        require_user_id(user)
    subject = _subject(tenant, user)
    under_way = [each for each in draft.erasures(tenant) if each.finished_at is None and subject in (ALL_USERS, each.subject)]
    if under_way:
        raise ChangeRefusedError(
            f"an erasure of user {under_way[0].subject[:12]} of tenant {tenant} is under way since "
            f"{under_way[0].requested_at:%Y-%m-%d %H:%M}Z, and cannot be undone; place the hold once `varve erasures list {tenant}` shows "
            "that it is done"
        )
    before = draft.hold_of(tenant, subject)
    if before is not None and before.is_in_force:
        after = changed(before, reason=reason)
    else:
        after = new(Hold, tenant=tenant, subject=subject, reason=reason, placed_at=at, placed_by=by)
    draft.put(after)
    return after


def release_hold(draft: Draft, tenant: str, user: str | None, *, at: datetime, by: str, reason: str = "") -> Hold:
    """Releases a hold; its document stays.

    Args:
        draft: The change.
        tenant: The tenant.
        user: The user. None: the hold on all users of the tenant.
        at: Time of the request.
        by: The actor.
        reason: The reason of the release.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If there is no such hold in force.
    """
    draft.tenant(tenant)
    before = draft.hold_of(tenant, _subject(tenant, user))
    if before is None or not before.is_in_force:
        whose = f"tenant {tenant!r}" if user is None else f"this user of tenant {tenant!r}"
        raise ChangeRefusedError(f"there is no hold in force on {whose}; `varve holds list {tenant}` shows the holds")
    after = changed(before, released_at=at, released_by=by, release_reason=reason)
    draft.put(after)
    return after


def _subject(tenant: str, user: str | None) -> str:
    return ALL_USERS if user is None else subject_of(tenant, user)
