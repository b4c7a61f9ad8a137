"""Tenants of an embedded stack: those of a tenants file, and the developer's own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from control import ControlWriter, Draft, read_control
from control.access_keys import hash_key, new_api_key
from control.errors import ChangeRefusedError
from control.key_changes import add_key
from control.schemas import resolve_method_schema
from control.tenant_changes import add_tenant, set_tenant
from control.tenants_file import apply_file, read_tenants_file
from memory.schema import MemorySchema
from memory.schema.methods import MethodDocument
from runtime.clocks import SystemClock
from runtime.logs import logger
from runtime.settings import Settings
from varve.embedded.private_files import private_draft
from varve.supervisor.start_errors import explained_os_errors

_log = logger(__name__)
_BY: Final = "varve dev"
_FIRST_SCHEMA: Final = "companion"


@dataclass(frozen=True, slots=True)
class DeveloperTenant:
    """The tenant that a stack creates for the developer."""

    id: str
    schema: str | MemorySchema | None = None
    """Argument of :func:`control.schemas.resolve_schema`. Default: the tenant's schema; companion for a new tenant."""
    method: str | MethodDocument | None = None
    """Argument of :func:`control.schemas.resolve_method_schema`. Default: the method of the schema."""


async def prepare_tenants(settings: Settings, tenant: DeveloperTenant) -> None:
    """Imports a tenants file into an empty control log, and creates the developer's tenant with its key.

    Args:
        settings: Settings of the running stack.
        tenant: Created if missing. A newer revision of its schema takes effect.

    Raises:
        TenantsFileError: If the file is invalid.
        ChangeRefusedError: If the tenant exists with another schema.
        KafkaUnavailableError: If Kafka does not answer.
        AccessDeniedError: If the folder cannot be written.
        DiskFullError: If there is no space in it.
    """
    writer = ControlWriter(settings=settings)
    path = settings.tenants_path
    if path.is_file() and not (await read_control(settings)).audit_head.change:
        file = read_tenants_file(path)
        await writer.write(
            lambda draft: apply_file(draft, file, folder=path.parent, now=SystemClock().now(), prune=True),
            action="tenants file imported",
            by=_BY,
        )
        _log.info("tenants_file_imported", path=str(path), tenants=len(file.tenants))
    key = _own_key(settings, tenant.id)
    await writer.write(lambda draft: _ensure(draft, tenant, hash_key(key)), action="developer tenant", by=_BY)


def key_path(settings: Settings, tenant: str) -> Path:
    """File with the key of the developer's tenant, readable by its owner only."""
    return settings.data / f"{tenant}.key"


def _own_key(settings: Settings, tenant: str) -> str:
    """The developer's key, the same in every run. It is written to the file before the log, so a crash in between loses nothing."""
    path = key_path(settings, tenant)
    with explained_os_errors(path):
        if path.exists():
            return path.read_text()
        path.parent.mkdir(parents=True, exist_ok=True)
        with private_draft(path, key := new_api_key()) as draft:
            draft.replace(path)
        return key


def _ensure(draft: Draft, tenant: DeveloperTenant, key_hash: str) -> None:
    before = draft.tenants().get(tenant.id)
    if before is None:
        add_tenant(draft, tenant.id, schema=tenant.schema or _FIRST_SCHEMA, method=tenant.method)
    elif tenant.schema is not None or tenant.method is not None:
        ref = resolve_method_schema(draft, tenant.schema or str(before.live_schema), tenant.method)
        if before.live_schema.name != ref.name:
            options = {"--schema": tenant.schema, "--method": tenant.method}
            given = " ".join(f"{name} {each if isinstance(each, str) else 'FILE'}" for name, each in options.items() if each is not None)
            without = " and ".join(name for name, each in options.items() if each is not None)
            raise ChangeRefusedError(
                f"tenant {tenant.id!r} has the schema {before.live_schema}, not {ref}: start without {without} to keep it; then "
                f"`varve tenants set {tenant.id} {given}` in another terminal changes it"
            )
        set_tenant(draft, tenant.id, schema=str(ref))
    if not any(each.hash == key_hash for each in draft.tenant(tenant.id).keys):
        add_key(draft, tenant.id, key_hash, now=SystemClock().now(), label="developer")
