"""Journals of growths, also those of other installations on the same broker."""

from collections.abc import Callable

import pytest

from runtime.settings import Settings
from streams.operations.growth.journal import journal_topic, read_journal
from streams.operations.growth.layout import Layout

pytestmark = pytest.mark.integration


async def test_a_journal_deleted_meanwhile_is_none(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings()
    others = Layout(f"{settings.kafka.topic_prefix}other.", 0)
    assert await read_journal(settings, others, topics={journal_topic(others): 1}) is None
