"""Users that are erased up to some place, known without a broker."""

from collections.abc import Mapping
from datetime import UTC, datetime

from control import Draft
from control.erasure import subject_of
from control.erasure_changes import begin_erasure, extend_erasure
from control.tenants import TenantDirectory
from memory.headers import ERASURE, KIND
from memory.keys import distinct_key
from memory.records import ErasureCommand
from streams.engine.records import ConsumedRecord
from tests.control_log import now_known
from tests.streams.harness import delivered

ASKED_AT = datetime(2025, 1, 1, tzinfo=UTC)


def now_erased(
    tenants: TenantDirectory, tenant: str, user: str, reaches: Mapping[str, Mapping[int, int]], *, at: datetime = ASKED_AT
) -> None:
    """Makes it known that an erasure of a user reaches so far.

    Args:
        tenants: The directory that learns of the erasure.
        tenant: The user's tenant.
        user: The erased user.
        reaches: The end of the erasure's reach, by topic and partition.
        at: When it was asked for.
    """

    def change(draft: Draft) -> None:
        begin_erasure(draft, tenant, user, at=at)
        extend_erasure(draft, subject_of(tenant, user), reaches)

    now_known(tenants, change)


def unreadably_erased(tenants: TenantDirectory, tenant: str) -> None:
    """Makes a record of an erasure for a tenant known that nobody can read."""
    now_erased(tenants, tenant, "somebody", {})
    state = tenants._view.state
    state.take(state.erasures[subject_of(tenant, "somebody")].key, b"{", offset=state.position)


def command_record(topic: str, command: ErasureCommand, offset: int, *, partition: int = 0) -> ConsumedRecord:
    """The command as a record of the extractions or recalls."""
    key = distinct_key(command.tenant, command.user)
    return delivered(topic, offset, key, command.to_json(), headers=((KIND, ERASURE),), partition=partition)
