"""The tenants' file: who may use this Varve, with which schema, known by which API keys (of which only the SHA-256 is kept).

``{"tenants": [{"id": "acme", "schema": "companion", "key_hashes": ["<sha256, hex>"], "weight": 1.0}],
"admin_key_hashes": []}``
"""

import fcntl
import hashlib
import math
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from memory.errors import SchemaError
from memory.records.base import problems_of
from memory.records.message import Name
from memory.schema import load_schema, scenario, scenario_names
from memory.schema.model import MemorySchema
from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.logs import logger

_log = logger(__name__)

_KEY_PREFIX: Final = "vk_"
_ADMIN_KEY_PREFIX: Final = "va_"

GENERATION_PATTERN: Final = r"^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$"
"""Names of generations; empty: the first one."""

KeyHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Tenant(BaseModel):
    """One tenant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Name
    schema_name: str = Field(alias="schema", min_length=1)
    """The name of a shipped scenario, or the path of a schema file, relative to the tenants' file."""
    key_hashes: tuple[KeyHash, ...] = ()
    """SHA-256 of each API key, in hexadecimal."""
    weight: float = Field(default=1.0, gt=0)
    """Its share where tenants compete for a stage's work."""
    generation: Annotated[str, StringConstraints(pattern=GENERATION_PATTERN)] = ""
    """Which generation of its memories is live; empty: the first."""
    generations: dict[Annotated[str, StringConstraints(pattern=GENERATION_PATTERN, min_length=1)], str] = Field(default_factory=dict)
    """Further generations, each with the schema that it is made under."""

    @model_validator(mode="after")
    def _live_one_is_there(self) -> "Tenant":
        if not self.has_generation(self.generation):
            raise ValueError(f"its generation {self.generation!r} is not among its generations ({', '.join(self.generations) or 'none'})")
        return self

    def has_generation(self, generation: str) -> bool:
        """Whether a generation is laid down for it; it always has the first, whose name is empty."""
        return generation == "" or generation in self.generations

    def schema_of(self, generation: str) -> str:
        """The name or path of a generation's schema."""
        return self.generations.get(generation, self.schema_name)


class _TenantsFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    tenants: tuple[Tenant, ...] = ()
    admin_key_hashes: tuple[KeyHash, ...] = ()


_Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Reading:
    version: _Version
    by_id: dict[str, Tenant]
    by_key_hash: dict[str, Tenant]
    admin_key_hashes: tuple[str, ...]
    schemas: dict[str, tuple[_Version | None, MemorySchema]] = field(default_factory=dict)


class TenantDirectory:
    """The tenants' file, read again when it changes. A change that cannot be read is logged, and what was known before stays in force.

    Args:
        path: The file.
        recheck_s: So long, in seconds, a file that was looked at counts as unchanged; an unknown tenant is looked for at once all the same.

    Raises:
        TenantsFileError: If the file is missing or wrong at the start.
    """

    def __init__(self, *, path: Path, recheck_s: float = 0.0) -> None:
        self._path = path
        self._recheck_s = recheck_s
        self._looked_at: dict[Path, tuple[float, _Version | None]] = {}
        self._reading = _read(path)
        self._refused: _Version | None = None

    def get(self, tenant_id: str) -> Tenant:
        """The tenant of that id.

        Raises:
            UnknownTenantError: If there is none.
        """
        tenant = self._current().by_id.get(tenant_id)
        if tenant is None and self._recheck_s:
            self._looked_at.clear()
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
        path = self._path.parent / name
        version = self._version_of(path)
        known = self._reading.schemas.get(name)
        if known is None or known[0] != version:
            known = self._reading.schemas[name] = (version, _load_schema(name, path))
        return known[1]

    def _current(self) -> _Reading:
        version = self._version_of(self._path)
        if version not in (self._reading.version, self._refused):
            try:
                self._reading = _read(self._path)
                self._refused = None
            except TenantsFileError as error:
                self._refused = version
                _log.error("tenants file not read again", problem=str(error))
        return self._reading

    def _version_of(self, path: Path) -> _Version | None:
        now = time.monotonic()
        looked_at, version = self._looked_at.get(path, (-math.inf, None))
        if now - looked_at >= self._recheck_s:
            version = _version_of(path)
            self._looked_at[path] = (now, version)
        return version


def hash_key(key: str) -> str:
    """The hexadecimal SHA-256 by which an API key is known. Keys are 256 random bits, so a plain hash cannot be turned back."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def add_tenant(path: Path, tenant_id: str, *, schema: str) -> str:
    """Adds a tenant to the file, or one more key to a tenant that is there; writes the file whole or not at all.

    Args:
        path: The tenants' file; made where missing.
        tenant_id: 1 to 256 characters.
        schema: The name of a shipped scenario, or the path of a schema file, relative to the tenants' file.

    Returns:
        The new API key. It is shown this once: only its hash is kept.

    Raises:
        TenantsFileError: If the file is wrong, or the tenant is there with another schema.
        SchemaError: If the schema is neither a scenario nor a good schema file.
    """
    _load_schema(schema, path.parent / schema)
    key = _KEY_PREFIX + secrets.token_urlsafe(32)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _exclusive(path):
        file = _file(path) if path.exists() else _TenantsFile()
        tenants = list(file.tenants)
        place = next((place for place, tenant in enumerate(tenants) if tenant.id == tenant_id), None)
        if place is None:
            tenants.append(_tenant(path, {"id": tenant_id, "schema": schema, "key_hashes": [hash_key(key)]}))
        elif tenants[place].schema_name != schema:
            raise TenantsFileError(
                f"{path}: tenant {tenant_id!r} is there with schema {tenants[place].schema_name!r}, not {schema!r}; "
                "edit the file to change it"
            )
        else:
            tenants[place] = tenants[place].model_copy(update={"key_hashes": (*tenants[place].key_hashes, hash_key(key))})
        _write(path, file.model_copy(update={"tenants": tuple(tenants)}))
    return key


def add_admin_key(path: Path) -> str:
    """Adds an operator's key to the file; writes it whole or not at all.

    Args:
        path: The tenants' file; made where missing.

    Returns:
        The new key. It is shown this once: only its hash is kept.

    Raises:
        TenantsFileError: If the file is wrong.
    """
    key = _ADMIN_KEY_PREFIX + secrets.token_urlsafe(32)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _exclusive(path):
        file = _file(path) if path.exists() else _TenantsFile()
        _write(path, file.model_copy(update={"admin_key_hashes": (*file.admin_key_hashes, hash_key(key))}))
    return key


def set_generation(path: Path, tenant_id: str, generation: str) -> str:
    """Makes a generation of a tenant's memories the live one; writes the file whole or not at all.

    Args:
        path: The tenants' file.
        tenant_id: A tenant in it.
        generation: Empty for the first one.

    Returns:
        The generation that was live before.

    Raises:
        TenantsFileError: If the file is wrong.
        UnknownTenantError: If it has no such tenant.
    """
    with _exclusive(path):
        file = _file(path)
        place = next((place for place, tenant in enumerate(file.tenants) if tenant.id == tenant_id), None)
        if place is None:
            raise UnknownTenantError(f"{path} has no tenant {tenant_id!r}; `varve tenants list` shows them")
        tenants = list(file.tenants)
        before = tenants[place]
        tenants[place] = _tenant(path, {**before.model_dump(by_alias=True), "generation": generation})
        _write(path, file.model_copy(update={"tenants": tuple(tenants)}))
    return before.generation


def _read(path: Path) -> _Reading:
    version = _version_of(path)
    file = _file(path)
    if version is None:
        raise TenantsFileError(f"{path} is missing; `varve tenants add` makes it")
    by_key_hash = {key_hash: tenant for tenant in file.tenants for key_hash in tenant.key_hashes}
    return _Reading(version, {tenant.id: tenant for tenant in file.tenants}, by_key_hash, file.admin_key_hashes)


def _file(path: Path) -> _TenantsFile:
    try:
        file = _TenantsFile.model_validate(orjson.loads(path.read_bytes()))
    except OSError as error:
        raise TenantsFileError(f"{path} cannot be read: {error.strerror}; `varve tenants add` makes it") from error
    except orjson.JSONDecodeError as error:
        raise TenantsFileError(f"{path}: line {error.lineno}: not JSON: {error.msg}") from error
    except ValidationError as error:
        raise TenantsFileError(f"{path}: {problems_of(error)}") from error
    _refuse_repeated(path, "tenant", [tenant.id for tenant in file.tenants])
    tenants_hashes = [key_hash for tenant in file.tenants for key_hash in tenant.key_hashes]
    _refuse_repeated(path, "key hash", [*tenants_hashes, *file.admin_key_hashes])
    return file


def _refuse_repeated(path: Path, what: str, values: list[str]) -> None:
    repeated = [value for value, count in Counter(values).items() if count > 1]
    if repeated:
        raise TenantsFileError(f"{path}: {what} {repeated[0]!r} stands there twice")


def _tenant(path: Path, fields: dict[str, object]) -> Tenant:
    try:
        return Tenant.model_validate(fields)
    except ValidationError as error:
        raise TenantsFileError(f"{path}: {problems_of(error)}") from error


def _load_schema(name: str, path: Path) -> MemorySchema:
    if name in scenario_names():
        return scenario(name)
    if not path.is_file():
        raise SchemaError("", f"{name!r} is neither a shipped scenario ({', '.join(scenario_names())}) nor a file at {path}")
    return load_schema(path)


def _version_of(path: Path) -> _Version | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _write(path: Path, file: _TenantsFile) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(orjson.dumps(file.model_dump(mode="json", by_alias=True), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
            out.flush()
            os.fsync(out.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    with path.with_name(f".{path.name}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
