"""Which Qdrant servers will do."""

import re
from typing import Final

from retrieval.errors import StoreTooOldError

OLDEST: Final = (1, 20)
"""The first that keeps vectors of a byte a number, or half of one (datatypes ``turbo8`` and ``turbo4``). Servers before 1.19 also take a
request for term statistics per tenant, ignore it without a word, and rank by those of all tenants together."""

_VERSION: Final = re.compile(r"v?(\d{1,6})\.(\d{1,6})(?:[.+-].*)?", re.ASCII)


def check_version(version: str) -> None:
    """Refuses a server that cannot keep the vectors, or would rank one tenant's memories by another's words.

    Args:
        version: As the server gives it, such as ``1.20.2``.

    Raises:
        StoreTooOldError: If it is older than :data:`OLDEST`, or no version.
    """
    found = _VERSION.fullmatch(version)
    oldest = ".".join(map(str, OLDEST))
    if found is None:
        raise StoreTooOldError(f"the Qdrant server gives {version[:40]!r} as its version; Varve needs {oldest} or newer")
    if (int(found[1]), int(found[2])) < OLDEST:
        raise StoreTooOldError(
            f"the Qdrant server is of version {version}; Varve needs {oldest} or newer, for vectors of one byte a number. "
            "Update it; what is in it stays usable"
        )
