"""Which Qdrant servers will do."""

import re
from collections.abc import Collection
from typing import Final

from qdrant_client import models

from stores.errors import StoreTooOldError

OLDEST: Final = (1, 19)
"""Older servers take a request for term statistics per tenant, ignore it without a word, and rank by those of all tenants together."""
OLDEST_WITH_TURBO8: Final = (1, 20)
"""The first that keeps vectors of a byte a number."""

_VERSION: Final = re.compile(r"v?(\d{1,6})\.(\d{1,6})(?:[.+-].*)?", re.ASCII)


def check_version(version: str, *, datatypes: Collection[models.Datatype]) -> None:
    """Refuses a server that cannot keep the vectors, or would rank one tenant's memories by another's words.

    Args:
        version: As the server gives it, such as ``1.20.2``.
        datatypes: What vectors are to be kept in.

    Raises:
        StoreTooOldError: If it is older than it may be, or no version.
    """
    has_turbo8 = models.Datatype.TURBO8 in datatypes
    needed = OLDEST_WITH_TURBO8 if has_turbo8 else OLDEST
    oldest = ".".join(map(str, needed))
    found = _VERSION.fullmatch(version)
    if found is None:
        raise StoreTooOldError(f"the Qdrant server gives {version[:40]!r} as its version; Varve needs {oldest} or newer")
    numbers = (int(found[1]), int(found[2]))
    if numbers >= needed:
        return
    if numbers >= OLDEST:
        remedy = "Update it, or set VARVE_STORE__DENSE_DATATYPE, and VARVE_STORE__LATE_DATATYPE where it is another than turbo4, to float16"
    else:
        remedy = "Update it; what is in it stays usable"
    reason = "vectors of one byte a number" if numbers >= OLDEST else "term statistics per tenant"
    raise StoreTooOldError(f"the Qdrant server is of version {version}; Varve needs {oldest} or newer, for {reason}. {remedy}")
