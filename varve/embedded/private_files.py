"""Files with secrets, readable by their owner only."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_private(path: Path, content: str | bytes) -> None:
    """Creates a file that only its owner can ever read.

    Raises:
        FileExistsError: If the file exists.
    """
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def private_draft(path: Path, content: str) -> Iterator[Path]:
    """A complete temporary file in the folder of the final one, to be renamed or linked; deleted at the end of the block.

    Args:
        path: The final file.
        content: Its content.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write_private(draft, content)
        yield draft
    finally:
        draft.unlink(missing_ok=True)
