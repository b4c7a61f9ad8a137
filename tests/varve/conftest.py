"""The topics of the tests in this folder."""

import asyncio
from collections.abc import Callable

import pytest

from runtime.kafka import create_topics
from runtime.settings import Settings
from tests.one_broker import one_broker


@pytest.fixture
def settings(make_settings: Callable[..., Settings]) -> Settings:
    """Topics of two partitions on the real broker."""
    settings = make_settings(kafka=one_broker(partitions=2))
    asyncio.run(create_topics(settings))
    return settings
