"""The tenants of an embedded stack: those of an old file, taken over, and the developer's own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from control import ControlWriter, Draft, read_control
from control.documents import hash_key, new_api_key
from control.errors import ChangeRefusedError
from control.key_changes import add_key
from control.schemas import resolve_schema
from control.tenant_changes import add_tenant, set_tenant
from control.tenants_file import apply_file, read_tenants_file
from memory.schema import MemorySchema
from runtime.clocks import SystemClock
from runtime.logs import logger
from runtime.settings import Settings
from varve.embedded.private_files import private_draft
from varve.supervisor.file_errors import explained_os_errors

_log = logger(__name__)
_BY: Final = "varve dev"
_FIRST_SCHEMA: Final = "companion"


@dataclass(frozen=True, slots=True)
class DeveloperTenant:
    """The tenant that a stack makes for whoever started it."""

    id: str
    schema: str | MemorySchema | None = None
    """As :func:`control.schemas.resolve_schema` takes it; None: the one that the tenant has, and companion where it is new."""


async def prepare_tenants(settings: Settings, tenant: DeveloperTenant) -> None:
    """Takes an old tenants' file over, while the control log is empty, and gives the developer's tenant its key.

    Args:
        settings: Of the stack, whose Kafka runs.
        tenant: Made where it is missing. A schema that has a newer revision comes into force.

    Raises:
        TenantsFileError: If the old file is wrong.
        ChangeRefusedError: If the tenant is there with another schema.
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
            action="tenants file taken over",
            by=_BY,
        )
        _log.info("tenants_file_taken_over", path=str(path), tenants=len(file.tenants))
    key = _own_key(settings, tenant.id)
    await writer.write(lambda draft: _ensure(draft, tenant, hash_key(key)), action="developer tenant", by=_BY)


def key_path(settings: Settings, tenant: str) -> Path:
    """Where the key of the developer's tenant lies, readable by its owner only."""
    return settings.data / f"{tenant}.key"


def _own_key(settings: Settings, tenant: str) -> str:
    """The same from run to run. It is written before the log knows it: a crash in between loses nothing."""
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
        add_tenant(draft, tenant.id, schema=tenant.schema or _FIRST_SCHEMA)
    elif tenant.schema is not None:
        ref = resolve_schema(draft, tenant.schema)
        if before.live_schema.name != ref.name:
            named = tenant.schema if isinstance(tenant.schema, str) else "FILE"
            raise ChangeRefusedError(
                f"tenant {tenant.id!r} is there with schema {before.live_schema}, not {ref}: start without --schema, which keeps it; then "
                f"`varve tenants set {tenant.id} --schema {named}` in another terminal changes it"
            )
        set_tenant(draft, tenant.id, schema=str(ref))
    if not any(each.hash == key_hash for each in draft.tenant(tenant.id).keys):
        add_key(draft, tenant.id, key_hash, now=SystemClock().now(), label="developer")
