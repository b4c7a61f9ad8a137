"""The part of retention that concerns raw messages: the records of ``windows``, which have all closed windows. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from memory.errors import RecordError
from memory.keys import encode_key, tenant_of_key
from memory.records import SessionCommand, Window
from memory.retention import newest_time
from streams.operations.retention.tenants import TenantRetention

_WINDOWS_OF_A_COMMAND: Final = 1000


@dataclass(frozen=True, slots=True)
class ExpiredWindow:
    """A closed window whose messages are beyond the limit."""

    key: bytes
    """Its key in ``windows``."""
    partition: int
    """Its partition in ``windows``."""
    id: str
    tenant: str
    session: str
    sequence: int
    source_partition: int
    """The partition of ``messages`` that its messages came from."""
    last_offset: int


@dataclass(slots=True)
class ExpiredWindows:
    """Gathers the old windows, record by record.

    Args:
        tenants: The tenants with a policy.
        extracted: By partition of ``windows``, the offset up to which the windows are extracted. Later ones stay: nothing said is lost.
    """

    tenants: Mapping[str, TenantRetention]
    extracted: Mapping[int, int]
    _found: dict[bytes, ExpiredWindow] = field(default_factory=dict)

    def add(self, partition: int, offset: int, key: bytes, value: bytes | None) -> None:
        """Adds the next record."""
        tenant = self.tenants.get(tenant_of_key(key))
        if tenant is None or tenant.messages is None:
            return
        self._found.pop(key, None)
        if value is None or offset >= self.extracted.get(partition, 0):
            return
        with suppress(RecordError):
            window = Window.from_json(value)
            is_held = any(tenant.is_held(each) for each in (window.users or [window.user]))
            time = newest_time(window)
            if not is_held and time is not None and time < tenant.messages:
                self._found[key] = ExpiredWindow(
                    key=key,
                    partition=partition,
                    id=window.id,
                    tenant=window.tenant,
                    session=window.session,
                    sequence=window.sequence,
                    source_partition=window.source_partition,
                    last_offset=window.last_offset,
                )

    @property
    def windows(self) -> list[ExpiredWindow]:
        """The old windows, in the order of the log."""
        return [*self._found.values()]

    def commands(self) -> Iterator[tuple[bytes, SessionCommand]]:
        """The commands to the sessions stage to forget them, each with its session's key."""
        sessions: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for each in self._found.values():
            sessions[each.tenant, each.session].append(each.sequence)
        for (tenant, session), sequences in sessions.items():
            for start in range(0, len(sequences), _WINDOWS_OF_A_COMMAND):
                part = sorted(sequences)[start : start + _WINDOWS_OF_A_COMMAND]
                yield encode_key(tenant, session), SessionCommand(command="expire", tenant=tenant, session=session, windows=part)

    def truncation(self) -> dict[int, int]:
        """The offset before which each partition of ``messages`` has nothing that ``windows`` or the sessions stage does not have."""
        ends: dict[int, int] = {}
        for each in self._found.values():
            ends[each.source_partition] = max(ends.get(each.source_partition, 0), each.last_offset + 1)
        return ends
