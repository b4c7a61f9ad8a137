"""Redis for the tests of this folder."""

from tests.runtime.conftest import redis

__all__ = ["redis"]
