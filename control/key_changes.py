"""Changes to keys. Pure: each function reads and writes a draft. They receive only hashes of keys."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from control.access_keys import DEFAULT_SCOPES, ApiKey, OperatorKey, Role, Scope, key_id_of
from control.draft import Draft, changed, new
from control.errors import ChangeRefusedError


def add_key(
    draft: Draft,
    tenant_id: str,
    key_hash: str,
    *,
    now: datetime,
    label: str = "",
    scopes: Sequence[Scope] = DEFAULT_SCOPES,
    user: str | None = None,
    expires: datetime | None = None,
) -> ApiKey:
    """Adds a key to a tenant.

    Args:
        draft: The change.
        tenant_id: A tenant.
        key_hash: The key's hash.
        now: The current time (aware).
        label: A label for people.
        scopes: The operations that it permits.
        user: The only user that it may access. Default: all users.
        expires: Expiry time (aware). Default: never.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If a value is invalid, or the key exists already.
    """
    tenant = draft.tenant(tenant_id)
    _require_later(expires, now)
    key = new(ApiKey, id=key_id_of(key_hash), hash=key_hash, label=label, scopes=tuple(scopes), user=user, created=now, expires=expires)
    draft.put(changed(tenant, keys=(*tenant.keys, key)))
    return key


def revoke_key(draft: Draft, tenant_id: str, key_id: str) -> None:
    """Revokes a key.

    Args:
        draft: The change.
        tenant_id: The tenant.
        key_id: The key's id.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If it has no such key.
    """
    _key(draft, tenant_id, key_id)
    tenant = draft.tenant(tenant_id)
    draft.put(changed(tenant, keys=tuple(each for each in tenant.keys if each.id != key_id)))


def rotate_key(draft: Draft, tenant_id: str, key_id: str, key_hash: str, *, now: datetime, overlap: timedelta) -> ApiKey:
    """Replaces a key by a new one; the old key stays valid for a while. The new key inherits the old one's expiry time.

    Args:
        draft: The change.
        tenant_id: The tenant.
        key_id: The old key's id.
        key_hash: The new key's hash.
        now: The current time (aware).
        overlap: How long the old key stays valid.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the tenant has no such key, or it has expired.
    """
    old = _key(draft, tenant_id, key_id)
    if old.is_expired(now):
        raise ChangeRefusedError(f"key {key_id} of tenant {tenant_id!r} has expired; create a new one with `varve keys add`")
    added = add_key(draft, tenant_id, key_hash, now=now, label=old.label, scopes=old.scopes, user=old.user, expires=old.expires)
    ends = now + overlap if old.expires is None else min(old.expires, now + overlap)
    tenant = draft.tenant(tenant_id)
    kept = tuple(changed(each, expires=ends) if each.id == key_id else each for each in tenant.keys)
    draft.put(changed(tenant, keys=tuple(each for each in kept if not each.is_expired(now))))
    return added


def add_operator_key(
    draft: Draft, key_hash: str, *, now: datetime, label: str = "", role: Role = "admin", expires: datetime | None = None
) -> OperatorKey:
    """Adds an operator's key.

    Args:
        draft: The change.
        key_hash: The key's hash.
        now: The current time (aware).
        label: A label for people.
        role: Its role.
        expires: Expiry time (aware). Default: never.

    Raises:
        ChangeRefusedError: If a value is invalid, or the key exists already.
    """
    _require_later(expires, now)
    key = new(OperatorKey, id=key_id_of(key_hash), hash=key_hash, label=label, role=role, created=now, expires=expires)
    if any(each.id == key.id for each in draft.operators.keys):
        raise ChangeRefusedError(f"there is an operator's key {key.id} already")
    draft.put(changed(draft.operators, keys=(*draft.operators.keys, key)))
    return key


def revoke_operator_key(draft: Draft, key_id: str) -> None:
    """Revokes an operator's key.

    Raises:
        ChangeRefusedError: If there is no such key.
    """
    kept = tuple(each for each in draft.operators.keys if each.id != key_id)
    if len(kept) == len(draft.operators.keys):
        raise ChangeRefusedError(f"there is no operator's key {key_id}; `varve operators list` shows them")
    draft.put(changed(draft.operators, keys=kept))


def _key(draft: Draft, tenant_id: str, key_id: str) -> ApiKey:
    key = next((each for each in draft.tenant(tenant_id).keys if each.id == key_id), None)
    if key is None:
        raise ChangeRefusedError(f"tenant {tenant_id!r} has no key {key_id}; `varve keys list {tenant_id}` shows them")
    return key


def _require_later(expires: datetime | None, now: datetime) -> None:
    if expires is not None and expires <= now:
        raise ChangeRefusedError(f"a key cannot expire at {expires.isoformat()}, which is not after now ({now.isoformat()})")
