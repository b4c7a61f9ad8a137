"""``python -m retrieval.stores.edge --data DIR --socket PATH``: owns the Edge shard in DIR and serves it on PATH until SIGTERM."""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

import uvloop

from retrieval.errors import OwnershipError
from retrieval.stores.edge.owner import Owner
from retrieval.stores.edge.ownership import FolderLock
from retrieval.stores.edge.rewriting import INTERVAL_S, Rewriting
from retrieval.stores.edge.shard import Shard


async def _serve(shard: Shard, path: Path, rewriting: Rewriting) -> None:
    stopping = asyncio.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signal_number, stopping.set)
    await Owner(shard=shard, path=path, rewriting=rewriting).serve(stopping)


def _open(folder: Path) -> Shard:
    try:
        return Shard(folder)
    except Exception as error:  # The engine raises bare Exceptions.
        raise OwnershipError(f"the shard in {folder} cannot be opened: {error}; restore it, or remove it and rebuild the index") from error


def main() -> int:
    """Runs the owner. Returns 0 after a clean stop, and 1 with one sentence on stderr if it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m retrieval.stores.edge", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the shard; created if it is missing")
    parser.add_argument("--socket", type=Path, required=True, help="path of the Unix socket to serve on")
    parser.add_argument(
        "--rewrite-after",
        type=float,
        default=INTERVAL_S,
        metavar="SECONDS",
        help="least time between two times that a shard is written anew in which something was deleted or replaced",
    )
    arguments = parser.parse_args()
    try:
        lock = FolderLock(arguments.data)
        shard = _open(arguments.data)
        try:
            uvloop.run(_serve(shard, arguments.socket, Rewriting(shard, interval_s=arguments.rewrite_after)))
        finally:
            shard.close()
            lock.release()
    except OwnershipError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"the Edge owner cannot use {arguments.data}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
