"""The tenants' file: who may use this Varve, with which schema, known by which API keys (of which only the SHA-256 is kept).

``{"tenants": [{"id": "acme", "schema": "companion", "key_hashes": ["<sha256, hex>"], "weight": 1.0,
"budget": {"hard_tokens": 1000000}}], "admin_key_hashes": []}``
"""

import fcntl
import hashlib
import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_serializer, model_validator

from memory.errors import SchemaError
from memory.records.base import problems_of
from memory.records.message import Name
from memory.schema import load_schema, scenario, scenario_names
from memory.schema.model import MemorySchema
from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.message_signing import SigningPolicy
from runtime.settings import BudgetSettings, QuotaSettings

_KEY_PREFIX: Final = "vk_"
_ADMIN_KEY_PREFIX: Final = "va_"

KeyHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Generation(BaseModel):
    """Memories of a tenant's beside the first ones, extracted anew."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    schema_name: str = Field(alias="schema", min_length=1)
    """What it is made under, as the tenant's own."""


class Drops(BaseModel):
    """How often a generation of a tenant's memories has been dropped."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generation: str
    """Its name; empty: the first."""
    count: int = Field(ge=1)


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
    budget: BudgetSettings = BudgetSettings()
    """Overrides ``VARVE_BUDGET__*``; null lifts a limit."""
    quota: QuotaSettings = QuotaSettings()
    """Overrides ``VARVE_QUOTA__*``; null lifts a limit."""
    signing: SigningPolicy = SigningPolicy()
    """Whether messages that are produced to Kafka in its name have to be signed."""
    generation: str = ""
    """Which generation of its memories is live; empty: the first."""
    generations: tuple[Generation, ...] = ()
    """Those beside the first."""
    drops: tuple[Drops, ...] = ()
    """What was dropped. Extractions bear the count, so that one which was begun before a drop is known when it comes late."""

    @field_serializer("budget", "quota")
    def _only_set_fields(self, group: BudgetSettings | QuotaSettings) -> dict[str, object]:
        # What is not set stays unset: it follows the settings.
        return group.model_dump(mode="json", exclude_unset=True)

    @model_validator(mode="after")
    def _has_its_live_generation(self) -> "Tenant":
        names = [each.name for each in self.generations]
        if len(set(names)) != len(names):
            raise ValueError(f"a name is there twice among its generations ({', '.join(names)})")
        if not self.has_generation(self.generation):
            raise ValueError(f"its generation {self.generation!r} is not among its generations ({', '.join(names) or 'none'})")
        return self

    def has_generation(self, generation: str) -> bool:
        """Whether it has a generation; it always has the first, whose name is empty."""
        return not generation or any(each.name == generation for each in self.generations)

    def drops_of(self, generation: str) -> int:
        """How often a generation has been dropped."""
        return max((each.count for each in self.drops if each.generation == generation), default=0)

    def schema_of(self, generation: str) -> str:
        """The name or path of a generation's schema."""
        return next((each.schema_name for each in self.generations if each.name == generation), self.schema_name)


class TenantsFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tenants: tuple[Tenant, ...] = ()
    admin_key_hashes: tuple[KeyHash, ...] = ()
    """SHA-256 of each operator's key, in hexadecimal."""


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
    schema_named(schema, path.parent / schema)
    key = _KEY_PREFIX + secrets.token_urlsafe(32)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _exclusive(path):
        file = read_file(path) if path.exists() else TenantsFile()
        tenants = list(file.tenants)
        index = _index_of(tenant_id, tenants)
        if index is None:
            tenants.append(_tenant(path, {"id": tenant_id, "schema": schema, "key_hashes": [hash_key(key)]}))
        elif tenants[index].schema_name != schema:
            raise TenantsFileError(
                f"{path}: tenant {tenant_id!r} is there with schema {tenants[index].schema_name!r}, not {schema!r}; "
                "edit the file to change it"
            )
        else:
            tenants[index] = tenants[index].model_copy(update={"key_hashes": (*tenants[index].key_hashes, hash_key(key))})
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
        file = read_file(path) if path.exists() else TenantsFile()
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
    before = ""

    def live(tenant: Tenant) -> dict[str, object]:
        nonlocal before
        before = tenant.generation
        return {"generation": generation}

    _edit(path, tenant_id, live)
    return before


def add_generation(path: Path, tenant_id: str, generation: str, *, schema: str | None = None) -> None:
    """Adds a generation to a tenant, not live yet; writes the file whole or not at all.

    Args:
        path: The tenants' file.
        tenant_id: A tenant in it.
        generation: Its name, which is new to the tenant.
        schema: As :func:`add_tenant` takes it; None: the schema of the tenant's live generation.

    Raises:
        TenantsFileError: If the file is wrong, or the tenant has the generation, or its name is not allowed.
        UnknownTenantError: If there is no such tenant.
        SchemaError: If the schema is neither a scenario nor a good schema file.
    """
    if schema is not None:
        schema_named(schema, path.parent / schema)

    def added(tenant: Tenant) -> dict[str, object]:
        if tenant.has_generation(generation):
            raise TenantsFileError(f"{path}: tenant {tenant_id!r} has a generation {generation!r} already; choose another name")
        known = [each.model_dump(by_alias=True) for each in tenant.generations]
        return {"generations": [*known, {"name": generation, "schema": schema or tenant.schema_of(tenant.generation)}]}

    _edit(path, tenant_id, added)


def count_drop(path: Path, tenant_id: str, generation: str) -> int:
    """Counts that a generation of a tenant is dropped; writes the file whole or not at all.

    Args:
        path: The tenants' file.
        tenant_id: A tenant in it.
        generation: Empty for the first one.

    Returns:
        How often it has been dropped, this time included.

    Raises:
        TenantsFileError: If the file is wrong.
        UnknownTenantError: If it has no such tenant.
    """
    count = 0

    def dropped(tenant: Tenant) -> dict[str, object]:
        nonlocal count
        count = tenant.drops_of(generation) + 1
        others = [each.model_dump() for each in tenant.drops if each.generation != generation]
        return {"drops": [*others, {"generation": generation, "count": count}]}

    _edit(path, tenant_id, dropped)
    return count


def set_signing(path: Path, tenant_id: str, change: Callable[[SigningPolicy], SigningPolicy]) -> SigningPolicy:
    """Changes what a tenant demands of messages that are produced in its name; writes the file whole or not at all.

    Args:
        path: The tenants' file.
        tenant_id: A tenant in it.
        change: Given the policy in force.

    Returns:
        The new policy.

    Raises:
        TenantsFileError: If the file is wrong, or the change is refused.
        UnknownTenantError: If it has no such tenant.
    """
    policy = SigningPolicy()

    def changed(tenant: Tenant) -> dict[str, object]:
        nonlocal policy
        try:
            policy = change(tenant.signing)
        except ValueError as error:
            raise TenantsFileError(f"{path}: tenant {tenant_id!r}: {error}") from error
        return {"signing": policy.model_dump()}

    _edit(path, tenant_id, changed)
    return policy


def _index_of(tenant_id: str, tenants: Sequence[Tenant]) -> int | None:
    return next((index for index, tenant in enumerate(tenants) if tenant.id == tenant_id), None)


def _edit(path: Path, tenant_id: str, change: Callable[[Tenant], dict[str, object]]) -> None:
    with _exclusive(path):
        file = read_file(path)
        index = _index_of(tenant_id, file.tenants)
        if index is None:
            raise UnknownTenantError(f"{path} has no tenant {tenant_id!r}; `varve tenants list` shows them")
        tenants = list(file.tenants)
        tenants[index] = _tenant(path, tenants[index].model_dump(by_alias=True) | change(tenants[index]))
        _write(path, file.model_copy(update={"tenants": tuple(tenants)}))


def read_file(path: Path) -> TenantsFile:
    """Reads the file.

    Raises:
        TenantsFileError: If it is missing or wrong; says where.
    """
    try:
        file = TenantsFile.model_validate(orjson.loads(path.read_bytes()))
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


def _refuse_repeated(path: Path, kind: str, values: list[str]) -> None:
    repeated = [value for value, count in Counter(values).items() if count > 1]
    if repeated:
        raise TenantsFileError(f"{path}: {kind} {repeated[0]!r} is there twice; remove one")


def _tenant(path: Path, fields: dict[str, object]) -> Tenant:
    try:
        return Tenant.model_validate(fields)
    except ValidationError as error:
        raise TenantsFileError(f"{path}: {problems_of(error)}") from error


def schema_named(name: str, path: Path) -> MemorySchema:
    """A shipped scenario, or else the schema in a file.

    Raises:
        SchemaError: If it is neither, or the file is wrong; says where.
    """
    if name in scenario_names():
        return scenario(name)
    if not path.is_file():
        raise SchemaError("", f"{name!r} is neither a shipped scenario ({', '.join(scenario_names())}) nor a file at {path}")
    return load_schema(path)


def _write(path: Path, file: TenantsFile) -> None:
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
