"""Redis for the tests of this folder."""

from tests.runtime.conftest import client, redis

__all__ = ["client", "redis"]
