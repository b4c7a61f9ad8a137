"""Checks the version of a Qdrant server."""

import re
from collections.abc import Collection
from typing import Final

from qdrant_client import models

from stores.errors import StoreTooOldError

OLDEST: Final = (1, 19)
"""Older servers silently ignore a request for term statistics per tenant, and rank by those of all tenants together."""
OLDEST_WITH_TURBO8: Final = (1, 20)
"""The first version that stores vectors with one byte per number."""

_VERSION: Final = re.compile(r"v?(\d{1,6})\.(\d{1,6})(?:[.+-].*)?", re.ASCII)


def check_version(version: str, *, datatypes: Collection[models.Datatype]) -> None:
    """Refuses a server that cannot store the vectors, or would rank one tenant's memories by other tenants' term statistics.

    Args:
        version: The server's version, such as ``1.20.2``.
        datatypes: The datatypes of the vectors.

    Raises:
        StoreTooOldError: If the server is too old, or the text is not a version.
    """
    has_turbo8 = models.Datatype.TURBO8 in datatypes
    needed = OLDEST_WITH_TURBO8 if has_turbo8 else OLDEST
    oldest = ".".join(map(str, needed))
    found = _VERSION.fullmatch(version)
    if found is None:
        raise StoreTooOldError(f"the Qdrant server reports {version[:40]!r} as its version; Varve needs {oldest} or newer")
    numbers = (int(found[1]), int(found[2]))
    if numbers >= needed:
        return
    if numbers >= OLDEST:
        remedy = "Update it, or set VARVE_STORE__DENSE_DATATYPE, and VARVE_STORE__LATE_DATATYPE if it is not turbo4, to float16"
    else:
        remedy = "Update it; its data stays usable"
    reason = "vectors of one byte per number" if numbers >= OLDEST else "term statistics per tenant"
    raise StoreTooOldError(f"the Qdrant server has version {version}; Varve needs {oldest} or newer, for {reason}. {remedy}")
