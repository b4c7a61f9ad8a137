"""``python -m stores.edge --data DIR --socket PATH``: serves the Edge shard in DIR on PATH until SIGTERM."""

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Final

import uvloop

from runtime.background import BackgroundWorkError
from runtime.garbage import collect_seldom
from runtime.interruption import run_until_signal
from stores.edge.folder import FolderLock
from stores.edge.owner import INTERVAL_S, Compactor, Owner
from stores.edge.shard import Shard
from stores.errors import OwnershipError, StoreUnavailableError

_GRACE_S: Final = 25.0
"""Longest time for the requests in progress at shutdown. It is shorter than the time after which the supervisor kills the process."""


def _open(folder: Path) -> Shard:
    try:
        return Shard(folder)
    except StoreUnavailableError as error:
        raise OwnershipError(str(error)) from error  # the disk is full: the shard must not be deleted
    except Exception as error:  # The engine raises bare Exceptions.
        raise OwnershipError(f"the shard in {folder} cannot be opened: {error}; restore it, or delete it and rebuild the index") from error


def main() -> int:
    """Runs the owner. Returns 0 after a clean stop, and 1 with a message on stderr if it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m stores.edge", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the shard; created if missing")
    parser.add_argument("--socket", type=Path, required=True, help="path of the Unix socket")
    parser.add_argument(
        "--rewrite-after",
        type=float,
        default=INTERVAL_S,
        metavar="SECONDS",
        help="minimum interval between two compactions of a shard with deleted or replaced points",
    )
    arguments = parser.parse_args()
    collect_seldom()
    try:
        lock = FolderLock(arguments.data)
        shard = _open(arguments.data)
        try:
            stopping = asyncio.Event()
            owner = Owner(shard=shard, path=arguments.socket, compactor=Compactor(shard, interval_s=arguments.rewrite_after))
            run_until_signal(owner.serve(stopping), stop=stopping.set, grace_s=_GRACE_S, loop_factory=uvloop.new_event_loop)
        finally:
            shard.close()
            lock.release()
    except (OwnershipError, BackgroundWorkError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"the Edge owner cannot use {arguments.data}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
