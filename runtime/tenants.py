"""Who may use this Varve: the tenants' file, as processes read it."""

import math
import time
from dataclasses import dataclass, field
from pathlib import Path

from memory.schema.model import MemorySchema
from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.logs import logger
from runtime.tenants_file import Tenant, add_tenant, hash_key, read_file, schema_named

__all__ = ["Tenant", "TenantDirectory", "add_tenant", "hash_key"]

_log = logger(__name__)

_Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The file as it was read."""

    version: _Version
    by_id: dict[str, Tenant]
    by_key_hash: dict[str, Tenant]
    admin_key_hashes: tuple[str, ...]
    schemas: dict[str, tuple[_Version | None, MemorySchema]] = field(default_factory=dict)


class TenantDirectory:
    """The tenants' file, read again when it changes. A change that cannot be read is logged, and the last good one stays in force.

    Args:
        path: The file.
        recheck_s: How long a file that was checked counts as unchanged, in seconds. An unknown tenant is looked up at once all the same.

    Raises:
        TenantsFileError: If the file is missing or wrong at the start.
    """

    def __init__(self, *, path: Path, recheck_s: float = 0.0) -> None:
        self._path = path
        self._recheck_s = recheck_s
        self._checked: dict[Path, tuple[float, _Version | None]] = {}
        self._schema_paths: dict[str, Path] = {}
        self._snapshot = _read(path)
        self._refused: _Version | None = None

    def get(self, tenant_id: str) -> Tenant:
        """The tenant of that id.

        Raises:
            UnknownTenantError: If there is none.
        """
        tenant = self._current().by_id.get(tenant_id)
        if tenant is None and self._recheck_s:
            self._checked.clear()
            tenant = self._current().by_id.get(tenant_id)
        if tenant is None:
            raise UnknownTenantError(f"{self._path} has no tenant {tenant_id!r}; add it with `varve tenants add` or mend the record")
        return tenant

    def by_api_key(self, key: str) -> Tenant | None:
        """The tenant that an API key belongs to; None for a key that nobody has."""
        return self._current().by_key_hash.get(hash_key(key))

    def is_admin_key(self, key: str) -> bool:
        """Whether a key is an operator's: it opens what lies across tenants, and no tenant's memory."""
        return hash_key(key) in self._current().admin_key_hashes

    def all(self) -> tuple[Tenant, ...]:
        """All tenants, in the order of the file."""
        return tuple(self._current().by_id.values())

    def schema_of(self, tenant_id: str, generation: str | None = None) -> MemorySchema:
        """The schema of a tenant's generation, read again when its file changes.

        Args:
            tenant_id: The tenant.
            generation: Which; one that the tenant has no more is read by the tenant's first schema. None: the live one.

        Raises:
            UnknownTenantError: If there is no such tenant.
            SchemaError: If the schema's file is wrong; says where.
        """
        tenant = self.get(tenant_id)
        name = tenant.schema_of(tenant.generation if generation is None else generation)
        path = self._schema_paths.get(name)
        if path is None:
            path = self._schema_paths[name] = self._path.parent / name
        version = self._version_of(path)
        known = self._snapshot.schemas.get(name)
        if known is None or known[0] != version:
            known = self._snapshot.schemas[name] = (version, schema_named(name, path))
        return known[1]

    def _current(self) -> _Snapshot:
        version = self._version_of(self._path)
        if version not in (self._snapshot.version, self._refused):
            try:
                self._snapshot = _read(self._path)
                self._refused = None
            except TenantsFileError as error:
                self._refused = version
                _log.error("tenants_file_unreadable", error=str(error))
        return self._snapshot

    def _version_of(self, path: Path) -> _Version | None:
        now = time.monotonic()
        checked_at, version = self._checked.get(path, (-math.inf, None))
        if now - checked_at >= self._recheck_s:
            version = _version_of(path)
            self._checked[path] = (now, version)
        return version


def _read(path: Path) -> _Snapshot:
    version = _version_of(path)
    file = read_file(path)
    if version is None:
        raise TenantsFileError(f"{path} is missing; `varve tenants add` makes it")
    by_key_hash = {key_hash: tenant for tenant in file.tenants for key_hash in tenant.key_hashes}
    return _Snapshot(version, {tenant.id: tenant for tenant in file.tenants}, by_key_hash, file.admin_key_hashes)


def _version_of(path: Path) -> _Version | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
