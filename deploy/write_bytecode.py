"""Writes bytecode for all modules of Varve, and for all that they import, in the environment that runs this file.

The Dockerfile runs it last: the image's root file system is read-only, and a module without bytecode would be compiled at each start of a
process. Python's own image has no bytecode of the standard library either. The bytecode is not compared with the time of its source:
builders round the times of files, and Python would then ignore half of it.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import distribution
from py_compile import PycInvalidationMode, compile

LAZY = (
    "faust.transport.drivers.aiokafka",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)
"""Modules of other packages that a role imports by name when it starts."""


def main() -> None:
    """Imports each module, and compiles all that are imported then. A module of an extra that is not installed is left out."""
    for name in (*_modules(), *LAZY):
        with suppress(ModuleNotFoundError):
            importlib.import_module(name)
    specs = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    for origin in sorted({str(spec.origin) for spec in specs if spec is not None and spec.has_location}):
        if origin.endswith(".py"):
            compile(origin, doraise=True, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)


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
