"""State of the control log at a position. Pure; updated record by record."""

import time
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from control.access_keys import ApiKey
from control.document_base import Document
from control.documents import KINDS, AuditHead, Operators, SchemaDocument, SchemaRef, Tenant, tenant_key
from control.erasure import Erasure, erasures_key, subject_of
from control.hold import ALL_USERS, Hold
from control.reextraction import Reextraction
from memory.errors import KeyFormatError, RecordError
from memory.keys import decode_key
from runtime.logs import logger

_log = logger(__name__)

GENESIS: Final = "0" * 64
"""Digest of an empty audit log."""


class ControlState:
    """The newest document of each key. The cost of applying a record does not depend on the number of tenants."""

    def __init__(self) -> None:
        self.position = 0
        """The offset after the last applied record."""
        self.tenants: dict[str, Tenant] = {}
        """Tenants by id, including removed ones."""
        self.schemas: dict[SchemaRef, SchemaDocument] = {}
        self.newest_schemas: dict[str, SchemaRef] = {}
        """The newest revision of each schema, by name."""
        self.operators = Operators()
        self.audit_head = AuditHead(change="", until=0, before=GENESIS, last=GENESIS)
        self.erasures: dict[str, Erasure] = {}
        """Erasures by the digest of tenant and user."""
        self.erasure_writes: Counter[str] = Counter()
        """Number of writes of erasures, by tenant."""
        self.holds: dict[tuple[str, str], Hold] = {}
        """Legal holds by tenant and subject, including released ones."""
        self.reextractions: dict[str, Reextraction] = {}
        """Re-extractions by the generation that they build, including ended ones."""
        self.unreadable: dict[bytes, str] = {}
        """Reasons why the newest record of a key cannot be read. Its document is unknown; the previous one is not used for access."""
        self.unreadable_since: dict[bytes, float] = {}
        """Since when the documents of :attr:`unreadable` are, on the monotonic clock of this process."""
        self._keys: dict[str, tuple[str, ApiKey]] = {}

    def holder_of(self, key_hash: str) -> tuple[Tenant, ApiKey] | None:
        """The tenant and the key with a hash; None if there is none."""
        found = self._keys.get(key_hash)
        return None if found is None else (self.tenants[found[0]], found[1])

    def document(self, key: bytes) -> Document | None:
        """The newest document of a key."""
        kind, *parts = decode_key(key)
        if KINDS.get(kind) is Tenant:
            return self.tenants.get(parts[0])
        if KINDS.get(kind) is SchemaDocument:
            return self.schemas.get(SchemaRef(name=parts[0], revision=int(parts[1])))
        if KINDS.get(kind) is Erasure:
            return self.erasures.get(parts[1])
        if KINDS.get(kind) is Hold:
            return self.holds.get((parts[0], parts[1]))
        if KINDS.get(kind) is Reextraction:
            return self.reextractions.get(parts[0])
        if KINDS.get(kind) is Operators:
            return self.operators if self.operators.revision else None
        return self.audit_head if self.audit_head.change else None

    def take(self, key: bytes | None, value: bytes | None, *, offset: int) -> None:
        """Applies the next record of the log. An unreadable record is logged and stays in :attr:`unreadable` until its key is rewritten.

        Args:
            key: The record's key.
            value: Its document.
            offset: Its offset.
        """
        self.position = offset + 1
        key = key or b""
        try:
            kind = KINDS.get(decode_key(key)[0])
            if kind is None:
                return  # written by a newer version
            document = kind.from_json(value or b"")
            if document.key != key:
                raise KeyFormatError(f"the document belongs under the key {document.key!r}")
        except RecordError as error:
            _log.error("control_record_refused", key=key.decode("utf-8", "replace"), offset=offset, error=str(error))
            self._refuse(key, str(error))
            return
        self.unreadable.pop(key, None)
        self.unreadable_since.pop(key, None)
        self.put([document])

    def put(self, documents: Iterable[Document]) -> None:
        """Makes documents the newest of their keys."""
        for document in documents:
            match document:
                case Tenant():
                    self._forget_keys(document.id)
                    self.tenants[document.id] = document
                    self._keys.update({each.hash: (document.id, each) for each in document.keys})
                case SchemaDocument():
                    ref = document.ref
                    self.schemas[ref] = document
                    newest = self.newest_schemas.get(ref.name)
                    if newest is None or newest.revision < ref.revision:
                        self.newest_schemas[ref.name] = ref
                case Operators():
                    self.operators = document
                case Erasure():
                    self.erasures[document.subject] = document
                    self.erasure_writes[document.tenant] += 1
                case Hold():
                    self.holds[document.tenant, document.subject] = document
                case Reextraction():
                    self.reextractions[document.generation] = document
                case AuditHead():
                    self.audit_head = document

    def is_unreadable(self, tenant: str) -> bool:
        """Whether a tenant's newest record cannot be read."""
        if not self.unreadable:
            return False
        try:
            return tenant_key(tenant) in self.unreadable
        except KeyFormatError:
            return False  # A broken record names it: no document has such a key.

    def is_erased(self, tenant: str, user: str | None, topic: str, partition: int, offset: int) -> bool:
        """Whether an erasure of a user covers a record.

        Args:
            tenant: The record's tenant.
            user: The record's user; None: it belongs to no user.
            topic: The record's original topic, without the prefix.
            partition: The record's original partition.
            offset: The record's original offset.
        """
        if user is None or not self.erasures:
            return False
        erasure = self.erasures.get(subject_of(tenant, user))
        return erasure is not None and erasure.covers(topic, partition, offset)

    def hold_on(self, tenant: str, subject: str) -> Hold | None:
        """The hold in force on a user, by the user's digest: one on the user, or one on the whole tenant."""
        found = (self.holds.get((tenant, each)) for each in (subject, ALL_USERS))
        return next((each for each in found if each is not None and each.is_in_force), None)

    def unfinished_since(self) -> datetime | None:
        """Request time of the oldest unfinished erasure; None if there is none."""
        return min((each.requested_at for each in self.erasures.values() if each.finished_at is None), default=None)

    def knows_erasures(self, tenant: str) -> bool:
        """Whether every record of an erasure of a tenant's users could be read."""
        prefix = erasures_key(tenant) + b"/"
        return not any(each.startswith(prefix) for each in self.unreadable)

    def _refuse(self, key: bytes, problem: str) -> None:
        self.unreadable[key] = problem
        self.unreadable_since.setdefault(key, time.monotonic())
        known = None
        try:
            known = self.document(key)
        except (RecordError, ValueError, IndexError):
            return  # no document is read by this key
        if isinstance(known, Tenant):
            self._forget_keys(known.id)
        elif isinstance(known, Operators):
            self.operators = Operators()

    def _forget_keys(self, tenant: str) -> None:
        before = self.tenants.get(tenant)
        for each in before.keys if before is not None else ():
            self._keys.pop(each.hash, None)
