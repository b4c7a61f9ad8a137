"""The data that a run finds of one user, and the user's part of the receipt. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from control.erasure import subject_of
from control.tenants import TenantDirectory
from memory.ids import window_part_id
from memory.keys import encode_key, partition_of, unmarked_key
from memory.topics import COMPACTION_LAG_MS, DAY_MS, DEAD_LETTERS, MERGES
from streams.operations.erasure.trace import UserTrace

_LONGEST_IN_THE_FLOW_MS: Final = max(COMPACTION_LAG_MS, MERGES.retention_ms)
_CLOSING_MS: Final = 2 * DAY_MS
"""A day until Kafka closes a segment, and one until it compacts it. The embedded vector store rewrites its files every day."""


@dataclass(slots=True)
class WrittenRecords:
    """A user's records in a compacted topic."""

    keys: dict[bytes, None] = field(default_factory=dict)
    unmarked: int = 0
    """Records without a mark in their keys: compaction would keep only the newest of them."""

    def add(self, key: bytes) -> None:
        """Adds a record's key."""
        if unmarked_key(key) == key:
            self.unmarked += 1
        else:
            self.keys[key] = None

    @property
    def count(self) -> int:
        """Number of records."""
        return len(self.keys) + self.unmarked


class ErasedUser:
    """One of the users that a run erases."""

    def __init__(self, tenant: str, user: str, *, begun_at: datetime, partitions: int) -> None:
        self.tenant = tenant
        self.user = user
        self.begun_at = begun_at
        self.subject = subject_of(tenant, user)
        """Digest of the user in the control log."""
        self.key = encode_key(tenant, user)
        self.home = partition_of(self.key, partitions)
        """Partition of the user's windows, extractions and recalls."""
        self.trace: UserTrace
        """The user's extractions: see :meth:`begin_trace`."""
        self.windows = WrittenRecords()
        self.extractions = WrittenRecords()
        self.reads = WrittenRecords()
        """The recorded reads of the user's memories."""
        self.sessions: set[str] = set()
        """Sessions of the windows."""
        self.window_ids: set[str] = set()
        """Ids of all windows in the log, whether or not they were extracted."""
        self.shared_in: Mapping[str, Mapping[str, set[str]]] = {}
        """The tenant's shared windows by session: the users of each in any revision, by its id."""
        self.may_be_quoted = 0
        """Number of other users' extractions that nothing has replaced, and in which a model may have repeated the user's words."""
        self.erased_at: Mapping[int, int] = {}
        """Offset of the command to drop the user's open windows in the log of messages, by partition."""
        self.dead_letters = 0
        self.problem: str | None = None
        """Why this user's erasure cannot be finished; the others' can."""
        self.kept_topics: set[str] = set()
        """Topics, without their prefix, that keep the user's records: they are older than marked keys."""
        self.kept_changelogs: set[str] = set()
        """Changelogs of stopped workers, with parked windows of the user."""
        self._remains: list[str] = []

    def begin_trace(self, tenants: TenantDirectory) -> None:
        """Begins the trace of the user's extractions.

        Args:
            tenants: Has the schemas of the extractions, so it must be read after them.
        """
        self.trace = UserTrace(self.tenant, self.user, tenants=tenants)

    @property
    def all_sessions(self) -> set[str]:
        """The sessions of the user's windows, and those whose open windows the sessions stage has dropped."""
        return self.sessions | self.trace.dropped_sessions | {session for session, _ in self.trace.sessions}

    @property
    def shared_windows(self) -> set[str]:
        """Ids of the shared windows of the user's sessions."""
        return {each for session in self.all_sessions for each in self.shared_in.get(session, ())}

    @property
    def window_sharers(self) -> set[str]:
        """The other users of these windows: their results may be based on the user's messages."""
        windows = (users for session in self.all_sessions for users in self.shared_in.get(session, {}).values())
        return {each for users in windows for each in users} - {self.user}

    @property
    def joined_windows(self) -> Mapping[str, set[str]]:
        """The shared windows with messages of the user: the other users of each, by its id."""
        return {
            window: users - {self.user}
            for session in self.all_sessions
            for window, users in self.shared_in.get(session, {}).items()
            # Once compaction has removed the first revision, only the user's extraction shows it.
            if self.user in users or self.trace.has_window(window_part_id(window, self.user))
        }

    def leave(self, what: str) -> None:
        """Adds a description of data that could not be erased."""
        self._remains.append(what)

    @property
    def found(self) -> dict[str, int]:
        """Numbers of erased items, by kind."""
        return {
            "windows": self.windows.count + len(self.joined_windows),
            "sessions": len(self.sessions),
            "events": len(self.trace.event_ids),
            "entities": sum(each.own for each in self.trace.entities),
            "shared_entities": sum(not each.own for each in self.trace.entities),
            "dead_letters": self.dead_letters,
        }

    @property
    def remains(self) -> tuple[str, ...]:
        """Descriptions of data that could not be erased."""
        return (*self._remains, *self._texts_that_remain(), *self._unread_that_remain(), *self._shared_results_that_remain())

    def _shared_results_that_remain(self) -> Iterator[str]:
        if self.may_be_quoted:
            yield (
                f"{self.may_be_quoted} results of other users that a model worded from shared windows, and whose windows still have to be "
                "extracted again without this user's messages: results that are based on the messages were removed, but the model may "
                "have repeated words elsewhere. The next extraction replaces them: raise the budget, redrive the dead letters of "
                "`extraction`, or drop the generation if it is no longer live"
            )

    @property
    def kept_ms(self) -> int:
        """Longest time after the erasure until Kafka and the embedded vector store have removed the last bytes, in milliseconds."""
        return (DEAD_LETTERS.retention_ms if self.dead_letters else _LONGEST_IN_THE_FLOW_MS) + _CLOSING_MS

    def _texts_that_remain(self) -> Iterable[str]:
        for entity_type, memory_id, name in sorted(self.trace.patched):
            yield f"text that patches wrote into {name} of the {entity_type} {memory_id}, which others share: read and correct it"

    def _unread_that_remain(self) -> Iterable[str]:
        if self.trace.unread:
            yield f"the results of {self.trace.unread} extractions that this version of Varve cannot read"
