"""On which shards of a server's collection the points of a tenant lie."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self
from zlib import crc32

from qdrant_client import models

TENANT_SHARDS: Final = "tenant_shards"
"""Where a collection's metadata says how many shards tenants share. It lacks it where the server spreads points by their ids."""
_KEYS_OF_A_COUNT: Final = 10_000
"""A shared shard's key tells how many there are, too: who still reckons with another number names none that is there, and learns of it."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Tiered multitenancy: small tenants share shards, and a large one may have a shard of its own.

    The keys of shared shards are numbers. A tenant's own shard has the tenant's id as its key, which is a text, so no two clash. Who names
    both gets the tenant's own where it is there and complete, and the shared one otherwise: the server decides that, for each request.
    """

    shared: int = 0
    """How many shards tenants share. 0: the server spreads all points by their ids, whosever they are."""

    @classmethod
    def recorded_in(cls, metadata: Mapping[str, Any] | None) -> Self:
        """The placement that a collection was created with."""
        return cls((metadata or {}).get(TENANT_SHARDS) or 0)

    @property
    def shared_keys(self) -> list[int]:
        """The keys of the shards that tenants share."""
        return [self._shared_key(index) for index in range(self.shared)]

    def shared_key_of(self, tenant: str) -> int:
        """The key of the shard that a tenant shares with others, as long as it has none of its own."""
        return self._shared_key(crc32(tenant.encode()) % self.shared)

    def key_of(self, tenant: str | None) -> models.ShardKeySelector | None:
        """What a request names for the points of a tenant.

        Args:
            tenant: Whose; None: points that belong to no tenant.

        Returns:
            None where the server spreads the points.
        """
        if not self.shared:
            return None
        return self._shared_key(0) if tenant is None else models.ShardKeyWithFallback(target=tenant, fallback=self.shared_key_of(tenant))

    def _shared_key(self, index: int) -> int:
        return self.shared * _KEYS_OF_A_COUNT + index
