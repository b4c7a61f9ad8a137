"""Redis rewrites its files without deleted values, or what they keep is said."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from runtime.redis import GuardedRedis, open_redis
from runtime.redis_files import rewrite_files
from runtime.redis_keys import KeyFamily
from runtime.settings import RedisSettings
from varve.embedded.ports import free_port
from varve.embedded.redis import redis_executable
from varve.supervisor.process import ProcessSpec
from varve.supervisor.supervisor import Supervisor

pytestmark = pytest.mark.integration

WORD = b"ZQXsecret"
