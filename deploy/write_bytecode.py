"""Imports all modules of Varve in the environment that runs this file, so that Python writes bytecode for them and for what they import.

``deploy/slim.sh`` runs it while the image is built: the image's root file system is read-only, and a module without bytecode would be
compiled at each start of a process.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import distribution

LAZY = (
    "faust.transport.drivers.aiokafka",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)
"""Modules of other packages that a role imports by name when it starts."""


def main() -> None:
    """Imports each module. One that needs a package of an extra which is not installed is left out."""
    for name in (*_modules(), *LAZY):
        with suppress(ModuleNotFoundError):
            importlib.import_module(name)


def _modules() -> Iterator[str]:
    """Names of all modules of Varve and of its client, without those that run a program when they are imported."""
    for name in ("varve-server", "varve-client"):
        for package in (distribution(name).read_text("top_level.txt") or "").split():
            yield package
            for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
                if not module.name.endswith(".__main__"):
                    yield module.name


if __name__ == "__main__":
    main()
