"""Files with secrets, readable by their owner only, and the master secret of an embedded stack among them."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import SecretStr

from varve.supervisor.start_errors import explained_os_errors


def write_private(path: Path, content: str | bytes) -> None:
    """Creates a file that only its owner can ever read.

    Raises:
        FileExistsError: If the file exists.
    """
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def private_draft(path: Path, content: str) -> Iterator[Path]:
    """A complete temporary file in the folder of the final one, to be renamed or linked; deleted at the end of the block."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write_private(draft, content)
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def new_secret() -> str:
    """A new master secret."""
    return secrets.token_hex(32)


def kept_secret(data: Path) -> SecretStr:
    """The secret of a data folder, readable by its owner only; the same in every run, because the log is sealed with it.

    Args:
        data: The data folder; created if it is missing.

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
