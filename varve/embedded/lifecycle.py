"""An embedded stack, or its servers alone, for the length of a block."""

import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from runtime.settings import ClientSettings, Settings
from runtime.tenants import TenantDirectory, add_tenant
from varve.embedded.stack import EmbeddedStack
from varve.embedded.stack_file import StackFile
from varve.supervisor.file_errors import explained_os_errors
from varve.supervisor.lock import exclusive_lock
from varve.supervisor.supervisor import Supervisor


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningStack:
    """A stack that is ready."""

    settings: Settings
    """With its addresses."""
    file: StackFile


@asynccontextmanager
async def running_stack(stack: EmbeddedStack, supervisor: Supervisor, *, tenant: str, schema: str) -> AsyncIterator[RunningStack]:
    """Starts a stack, writes its file, and stops the stack at the end of the block.

    Args:
        stack: What to run.
        supervisor: Of the stack's levels.
        tenant: Made in the tenants' file where missing.
        schema: That tenant's schema.

    Raises:
        VarveError: If it cannot be started; in one sentence.
    """
    settings = stack.settings
    with exclusive_lock(settings.data):
        file = StackFile.of(stack, tenant=tenant, api_key=developer_key(settings, tenant=tenant, schema=schema))
        await supervisor.start()
        try:
            file.write(settings.data)
            yield RunningStack(settings=settings.model_copy(update={"client": _client(settings, file)}), file=file)
        finally:
            StackFile.remove(settings.data)
            await supervisor.stop()


@asynccontextmanager
async def running_servers(settings: Settings, *, notice: Callable[[str], None]) -> AsyncIterator[Settings]:
    """Starts the servers of a data folder's stack without its stages: for commands that need the stages stopped.

    Args:
        settings: As for ``varve dev``.
        notice: Called with a line of text for each change.

    Yields:
        The settings with the servers' addresses.

    Raises:
        FolderInUseError: If a stack runs on the folder.
        VarveError: If a server cannot be started; in one sentence.
    """
    stack = EmbeddedStack(settings=settings)
    with exclusive_lock(stack.settings.data):
        supervisor = Supervisor(stack.server_levels(), notice=notice)
        await supervisor.start()
        try:
            yield stack.settings
        finally:
            await supervisor.stop()


def developer_key(settings: Settings, *, tenant: str, schema: str) -> str:
    """The API key of the stack's own tenant, kept in the data folder, readable by its owner only; the same from run to run.

    Args:
        settings: Where the data folder and the tenants' file are.
        tenant: Made where it is missing.
        schema: The tenant's schema.

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
    with explained_os_errors(path):
        key = add_tenant(settings.tenants_path, tenant, schema=schema)
        _write_privately(path, key)
    return key


def _client(settings: Settings, file: StackFile) -> ClientSettings:
    """The stack's own service, whatever the settings name."""
    return settings.client.model_copy(update={"url": file.service_url, "api_key": SecretStr(file.api_key)})


def _write_privately(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)
