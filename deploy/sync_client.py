"""The synchronous Python client, made of the asynchronous one: they differ in the words of ``async`` and ``await`` only."""

import subprocess
import sys
from pathlib import Path
from typing import Final

SOURCE: Final = Path("client/varve_client/async_client.py")
TARGET: Final = Path("client/varve_client/sync_client.py")

_WORDS: Final = (
    ('"""The asynchronous client."""\n', '"""The synchronous client, made of the asynchronous one by ``make generated``."""\n'),
    ("as an asynchronous context manager", "as a context manager"),
    ("import asyncio\n", ""),
    ("asyncio.sleep", "time.sleep"),
    ("asyncio.get_running_loop()", "self"),
    ("in several event loops", "in several threads"),
    ("AsyncIterator, Callable", "Callable, Iterator"),
    ("AsyncIterator", "Iterator"),
    ("async def ", "def "),
    ("await ", ""),
    ("__aenter__", "__enter__"),
    ("__aexit__", "__exit__"),
    ("aclose", "close"),
    ("AsyncVarveClient", "VarveClient"),
    ("httpx.AsyncClient", "httpx.Client"),
)


def sync_client(asynchronous: str) -> str:
    """The code of the synchronous client.

    Args:
        asynchronous: The code of the asynchronous one.
    """
    for each, instead in _WORDS:
        asynchronous = asynchronous.replace(each, instead)
    ruff = (sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-")
    return subprocess.run(ruff, input=asynchronous, capture_output=True, text=True, check=True).stdout
