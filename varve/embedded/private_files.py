"""Files that only their owner reads: what they hold opens things."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_private(path: Path, content: str | bytes) -> None:
    """Makes a file that only its owner reads, from its first byte on.

    Raises:
        FileExistsError: If there is one.
    """
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def private_draft(path: Path, content: str) -> Iterator[Path]:
    """A whole file beside another, to be moved or linked to its name; gone afterwards.

    Args:
        path: The file that it is to become.
        content: What it holds.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write_private(draft, content)
        yield draft
    finally:
        draft.unlink(missing_ok=True)
