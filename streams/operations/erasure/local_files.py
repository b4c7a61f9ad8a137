"""Finds files of this machine that still name a user: deleted values stay in a store's files until it rewrites them."""

import mmap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson

from memory.keys import encode_key

_TABLES: Final = ("tables", ("*.sst", "*.log"))
_REDIS: Final = ("redis", ("*.aof", "*.rdb"))
_EDGE: Final = ("edge", ("*",))
"""The embedded store keeps deleted points until it merges a segment."""


def naming_files(data: Path, tenant: str, user: str) -> Counter[str]:
    """Counts the files that name a user, by folder: of local tables, the embedded Redis and the embedded vector store.

    It reads bytes: a name that a store has compressed is not found, and a user who has returned is named in new rows.
    """
    words = (encode_key(tenant, user), b'"user":' + orjson.dumps(user))
    found: Counter[str] = Counter()
    for folder, patterns in (_TABLES, _REDIS, _EDGE):
        for path in _files(data / folder, patterns):
            if _names(path, words):
                found[str(path.parent.relative_to(data))] += 1
    return found


def _files(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(folder.rglob(pattern))


def _names(path: Path, words: tuple[bytes, ...]) -> bool:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(word) >= 0 for word in words)
    except (OSError, ValueError):  # rewritten meanwhile, no plain file, or empty
        return False
