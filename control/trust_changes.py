"""Changes to a tenant's levels of trust. Pure: each function reads and writes a draft."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from control.draft import Draft, changed
from control.errors import ChangeRefusedError
from control.tenant_trust import TenantTrust
from memory.records.trust import EntityTrust, TrustLevel
from memory.trust import TrustPolicy
from memory.validation_problems import problems_of


def change_trust(
    draft: Draft,
    tenant_id: str,
    *,
    now: datetime,
    sources: Mapping[str, TrustLevel | None],
    entities_from: EntityTrust | None = None,
) -> TenantTrust:
    """Sets the levels of some sources.

    Args:
        draft: The change.
        tenant_id: A tenant.
        now: The current time (aware).
        sources: Levels by source (:data:`memory.sources.SourceName`). None removes the source's level. Other sources keep theirs.
        entities_from: The lowest level of what changes entities. Default: unchanged.

    Returns:
        The levels in force.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If a source or level is invalid; names it.
    """
    tenant = draft.tenant(tenant_id)
    levels: dict[str, Any] = {name: level for name, level in {**tenant.trust.sources, **sources}.items() if level is not None}
    try:
        policy = TrustPolicy(sources=dict(sorted(levels.items())), entities_from=entities_from or tenant.trust.entities_from)
    except ValidationError as error:
        raise ChangeRefusedError(problems_of(error)) from error
    trust = tenant.trust.with_policy(policy, now=now)
    draft.put(changed(tenant, trust=trust))
    return trust


def note_applied(draft: Draft, tenant_id: str, version: int) -> None:
    """Notes that all published windows of a tenant have the levels of a version. Older versions change nothing.

    Args:
        draft: The change.
        tenant_id: A tenant.
        version: The applied version.

    Raises:
        UnknownTenantError: If there is no such tenant.
    """
    tenant = draft.tenant(tenant_id)
    if tenant.trust.applied < version:
        draft.put(changed(tenant, trust=tenant.trust.model_copy(update={"applied": version})))
