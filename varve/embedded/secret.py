"""The master secret of an embedded stack, kept in its data folder."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from pydantic import SecretStr

from varve.embedded.private_files import private_draft
from varve.supervisor.file_errors import explained_os_errors


def new_secret() -> str:
    """A new master secret."""
    return secrets.token_hex(32)


def kept_secret(data: Path) -> SecretStr:
    """The secret of a data folder, readable by its owner only; the same from run to run, for the log is sealed under it.

    Args:
        data: The data folder; made where missing.

    Raises:
        AccessDeniedError: If the folder cannot be written.
        DiskFullError: If there is no space in it.
    """
    path = data / "signing.secret"
    with explained_os_errors(path):
        data.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            # A link never replaces a secret that another process has just made.
            with private_draft(path, new_secret()) as draft, suppress(FileExistsError):
                os.link(draft, path)
        return SecretStr(path.read_text())
