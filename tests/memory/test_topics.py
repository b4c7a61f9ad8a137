"""Topics: names that Kafka takes, no two alike, and nothing compacted that has to keep every record."""

import re

from memory import topics


def test_names_are_distinct_and_legal() -> None:
    names = [each.name for each in topics.ALL]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_a_prefix_stands_before_the_name() -> None:
    assert topics.topic_name(topics.MESSAGES, "varve.") == "varve.messages"
    assert topics.topic_name(topics.DEAD_LETTERS, "") == "dead-letters"


def test_source_topics_are_kept_for_ever_uncompacted() -> None:
    for spec in (topics.MESSAGES, topics.EXTRACTIONS):
        assert (spec.cleanup, spec.retention_ms) == ("delete", -1)


def test_no_producers_clock_dates_a_message_in_the_log() -> None:
    assert topics.MESSAGES.config == {"message.timestamp.type": "LogAppendTime"}


def test_the_change_feed_is_compacted() -> None:
    assert topics.MEMORIES.cleanup == "compact"
