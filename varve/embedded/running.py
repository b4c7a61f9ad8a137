"""A stack that runs for the length of a block."""

import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from runtime.settings import ClientSettings, Settings
from runtime.tenants import TenantDirectory, add_tenant
from varve.embedded.stack import EmbeddedStack
from varve.embedded.stack_file import StackFile
from varve.supervisor.lock import sole_use
from varve.supervisor.process import writing
from varve.supervisor.supervisor import Supervisor


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningStack:
    """A stack that is ready."""

    settings: Settings
    """With its addresses."""
    note: StackFile


@asynccontextmanager
async def running_stack(stack: EmbeddedStack, supervisor: Supervisor, *, tenant: str, schema: str) -> AsyncIterator[RunningStack]:
    """Starts a stack, leaves its note, and stops it at the end, whatever happens in between.

    Args:
        stack: What to run.
        supervisor: Of the stack's levels.
        tenant: Made in the tenants' file where missing.
        schema: That tenant's schema.

    Raises:
        VarveError: If it cannot be started; in one sentence.
    """
    settings = stack.settings
    with sole_use(settings.data):
        note = StackFile.of(stack, tenant=tenant, api_key=developer_key(settings, tenant=tenant, schema=schema))
        await supervisor.start()
        try:
            note.write(settings.data)
            yield RunningStack(settings=settings.model_copy(update={"client": _client(settings, note)}), note=note)
        finally:
            StackFile.remove(settings.data)
            await supervisor.stop()


def _client(settings: Settings, note: StackFile) -> ClientSettings:
    """The stack's own service, whatever the settings name."""
    return settings.client.model_copy(update={"url": note.service_url, "api_key": SecretStr(note.api_key)})


def developer_key(settings: Settings, *, tenant: str, schema: str) -> str:
    """The API key of the stack's own tenant, kept in the data folder, readable by its owner only; the same from run to run.

    Raises:
        TenantsFileError: If the tenants' file is wrong, or has the tenant with another schema.
        AccessDeniedError: If the folder cannot be written.
        DiskFullError: If there is no space in it.
    """
    path = settings.data / f"{tenant}.key"
    if path.exists() and settings.tenants_path.exists():
        key = path.read_text()
        known = TenantDirectory(path=settings.tenants_path).by_api_key(key)
        if known is not None and (known.id, known.schema_name) == (tenant, schema):
            return key
    with writing(path):
        key = add_tenant(settings.tenants_path, tenant, schema=schema)
        _write_privately(path, key)
    return key


def _write_privately(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)
