"""Who may use this Varve: the tenants' file, as processes read it."""

import math
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Final

from memory.schema.model import MemorySchema
from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.schema_files import FileVersion, SchemaFiles, file_version
from runtime.tenants_file import Tenant, add_tenant, hash_key, read_file

__all__ = ["Tenant", "TenantDirectory", "add_tenant", "hash_key"]

_log = logger(__name__)

_LARGE_BYTES: Final = 250_000
"""A larger file (some thousand tenants) takes long enough to read to hold up the event loop: a thread reads its changes."""
_MAX_STALE_S: Final = 0.8
"""For so long what was read before may serve while a thread reads a change. Switching generations counts on it: see _TENANTS_RELOAD_S."""


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The file as it was read."""

    version: FileVersion | None
    by_id: dict[str, Tenant]
    by_key_hash: dict[str, Tenant]
    admin_key_hashes: tuple[str, ...]


class TenantDirectory:
    """The tenants' file and their schema files, read again when they change. Of a change that is refused the last good one stays in force.

    Args:
        path: The file.
        recheck_s: How long a file that was checked counts as unchanged, in seconds. An unknown tenant is looked up at once all the same.
        schema_copies: Where copies of the last good schema files are kept; see :class:`~runtime.schema_files.SchemaFiles`.
        metrics: Where the files are counted whose newest version is refused.

    Raises:
        TenantsFileError: If the file is missing or wrong at the start.
    """

    def __init__(self, *, path: Path, recheck_s: float = 0.0, schema_copies: Path | None = None, metrics: Metrics | None = None) -> None:
        self._path = path
        self._recheck_s = recheck_s
        self._checked: dict[Path, tuple[float, FileVersion | None]] = {}
        self._schemas = SchemaFiles(folder=path.parent, version_of=self._version_of, copies=schema_copies)
        self._snapshot = _read(path)
        self._known_version = self._snapshot.version
        """The newest version that was looked at, good or refused."""
        self._known_at = time.monotonic()
        """When that was last seen to be the newest."""
        self._refusal: str | None = None
        self._reading: tuple[FileVersion | None, Future[_Snapshot]] | None = None
        if metrics is not None:
            metrics.refused_files.set_function(lambda: len(self.refused))

    @property
    def refused(self) -> dict[str, str]:
        """Why a file's newest version is refused, by the file's name: the last good one is in force, if there was one."""
        own = {} if self._refusal is None else {self._path.name: self._refusal}
        return own | dict(self._schemas.refused)

    def get(self, tenant_id: str) -> Tenant:
        """The tenant of that id.

        Raises:
            UnknownTenantError: If there is none.
        """
        tenant = self._current().by_id.get(tenant_id) or self._newest().by_id.get(tenant_id)
        if tenant is None:
            raise UnknownTenantError(f"{self._path} has no tenant {tenant_id!r}; add it with `varve tenants add` or mend the record")
        return tenant

    def by_api_key(self, key: str) -> Tenant | None:
        """The tenant that an API key belongs to; None for a key that nobody has."""
        key_hash = hash_key(key)
        return self._current().by_key_hash.get(key_hash) or self._newest().by_key_hash.get(key_hash)

    def is_admin_key(self, key: str) -> bool:
        """Whether a key is an operator's: it opens what lies across tenants, and no tenant's memory."""
        key_hash = hash_key(key)
        return key_hash in self._current().admin_key_hashes or key_hash in self._newest().admin_key_hashes

    def all(self) -> tuple[Tenant, ...]:
        """All tenants, in the order of the file."""
        return tuple(self._current().by_id.values())

    def schema_of(self, tenant_id: str, generation: str | None = None) -> MemorySchema:
        """The last good schema of a tenant's generation, read again when its file changes.

        Args:
            tenant_id: The tenant.
            generation: Which; one that the tenant has no more is read by the tenant's first schema. None: the live one.

        Raises:
            UnknownTenantError: If there is no such tenant.
            SchemaError: If the schema's file is wrong, and no good one was ever read on this machine; says where.
        """
        tenant = self.get(tenant_id)
        return self._schemas.get(tenant.schema_of(tenant.generation if generation is None else generation))

    def _newest(self) -> _Snapshot:
        """The file as it is now: someone who is not in what was read may just have been added."""
        self._checked.pop(self._path, None)
        self._current()
        if self._reading is not None:
            self._take(*self._reading)
        return self._snapshot

    def _current(self) -> _Snapshot:
        if self._reading is not None:
            if self._reading[1].done() or time.monotonic() - self._known_at >= _MAX_STALE_S:
                self._take(*self._reading)
            return self._snapshot
        version = self._version_of(self._path)
        if version == self._known_version:
            self._known_at = self._checked[self._path][0]
        else:
            self._reading = version, self._read_change(version)
            return self._current()
        return self._snapshot

    def _read_change(self, version: FileVersion | None) -> "Future[_Snapshot]":
        reading: Future[_Snapshot] = Future()
        if version is None or version[1] < _LARGE_BYTES:
            _read_into(reading, self._path)
        else:
            Thread(target=_read_into, args=(reading, self._path), name="tenants-file", daemon=True).start()
        return reading

    def _take(self, version: FileVersion | None, reading: "Future[_Snapshot]") -> None:
        try:
            self._snapshot = reading.result()
            self._known_version, self._refusal = self._snapshot.version, None
        except TenantsFileError as error:
            self._known_version, self._refusal = version, str(error)
            _log.error("tenants_file_unreadable", error=str(error))
        self._reading = None

    def _version_of(self, path: Path) -> FileVersion | None:
        now = time.monotonic()
        checked_at, version = self._checked.get(path, (-math.inf, None))
        if now - checked_at >= self._recheck_s:
            version = file_version(path)
            self._checked[path] = (now, version)
        return version


def _read_into(reading: "Future[_Snapshot]", path: Path) -> None:
    try:
        reading.set_result(_read(path))
    except Exception as error:  # the thread that asks for the result gets it
        reading.set_exception(error)


def _read(path: Path) -> _Snapshot:
    version = file_version(path)
    file = read_file(path)
    by_key_hash = {key_hash: tenant for tenant in file.tenants for key_hash in tenant.key_hashes}
    return _Snapshot(version, {tenant.id: tenant for tenant in file.tenants}, by_key_hash, file.admin_key_hashes)
