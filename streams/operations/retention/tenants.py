"""The tenants with a retention policy, with their limits at the time of a run. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from control.documents import SchemaRef
from control.erasure import subject_of
from control.hold import ALL_USERS
from control.state import ControlState
from control.tenants import TenantDirectory
from control.view import FixedControlView
from memory.errors import SchemaError
from memory.records import Extraction
from memory.retention import limits_at, messages_limit, reads_limit


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRetention:
    """A tenant's retention in one run."""

    id: str
    limits: Mapping[str, datetime]
    """By type: what was said before is removed."""
    messages: datetime | None
    """Windows whose newest message is older are removed. None: raw messages are kept forever."""
    reads: datetime | None
    """Records of earlier reads are removed from the read audit. None: it is kept forever."""
    held: frozenset[str]
    """Digests of the users with a legal hold."""

    def is_held(self, user: str) -> bool:
        """Whether a user's data must not be removed."""
        return subject_of(self.id, user) in self.held

    @property
    def oldest(self) -> datetime | None:
        """The earliest limit: everything older is removed, if every type has a limit."""
        return min(self.limits.values(), default=None)


def tenants_with_retention(state: ControlState, now: datetime, *, only: Collection[str] = ()) -> list[TenantRetention]:
    """The tenants from which a run removes something. A hold on a whole tenant takes it out.

    Args:
        state: The control log.
        now: Time of the run.
        only: These tenants. Default: all.
    """
    found = (each for each in state.tenants.values() if each.state != "removed" and each.retention and (not only or each.id in only))
    return [
        TenantRetention(
            id=each.id,
            limits=limits_at(each.retention, now),
            messages=messages_limit(each.retention, now),
            reads=reads_limit(each.retention, now),
            held=_held(state, each.id),
        )
        for each in found
        if state.hold_on(each.id, ALL_USERS) is None
    ]


def _held(state: ControlState, tenant: str) -> frozenset[str]:
    return frozenset(each.subject for each in state.holds.values() if each.tenant == tenant and each.is_in_force)


class EntityTypes:
    """The entity types of the schemas under which extractions were made.

    Args:
        state: The control log.
    """

    def __init__(self, state: ControlState) -> None:
        self._tenants = TenantDirectory(FixedControlView(state))
        self._known: dict[tuple[str, str, str, int], frozenset[str]] = {}

    def of(self, extraction: Extraction) -> Collection[str]:
        """The names of the entity types; none if the schema is unknown."""
        key = extraction.tenant, extraction.generation, extraction.schema_name, extraction.schema_revision
        if key not in self._known:
            self._known[key] = frozenset(self._names(extraction))
        return self._known[key]

    def _names(self, extraction: Extraction) -> Iterable[str]:
        try:
            if extraction.schema_revision:
                ref = SchemaRef(name=extraction.schema_name, revision=extraction.schema_revision)
                return [each.name for each in self._tenants.schema(ref).entity_types]
            return [each.name for each in self._tenants.schema_of(extraction.tenant, extraction.generation).entity_types]
        except SchemaError:
            return []
