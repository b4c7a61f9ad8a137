"""Topics: distinct names that Kafka accepts, and no compaction where every record must be kept."""

import re

from memory import topics


def test_names_are_distinct_and_legal() -> None:
    names = [each.name for each in topics.ALL]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_a_prefix_precedes_the_name() -> None:
    assert topics.topic_name(topics.MESSAGES, "varve.") == "varve.messages"
    assert topics.topic_name(topics.DEAD_LETTERS, "") == "dead-letters"


def test_messages_are_kept_without_limit_and_uncompacted() -> None:
    assert (topics.MESSAGES.cleanup, topics.MESSAGES.retention_ms, topics.MESSAGES.mark) == ("delete", -1, "")


def test_marked_topics_are_compacted_and_kept_without_limit() -> None:
    marked = [spec for spec in topics.ALL if spec.mark]
    assert marked == [topics.WINDOWS, topics.EXTRACTIONS, topics.READS]
    assert {(spec.cleanup, spec.retention_ms) for spec in marked} == {("compact", -1)}


def test_only_marked_topics_are_compacted_with_every_record_kept() -> None:
    """In the other topics the newest record of each key is complete: superseded records may be deleted."""
    newest_says_all = [topics.CONTROL, topics.MEMORIES, topics.MERGED, topics.WEBHOOK_DELIVERIES]
    unmarked = [spec for spec in topics.ALL if spec.cleanup == "compact" and not spec.mark]
    assert sorted(unmarked, key=lambda spec: spec.name) == newest_says_all


def test_records_under_a_tombstone_are_compacted_in_time() -> None:
    """Kafka closes a segment by time alone where little is written, and compacts closed segments alone."""
    for spec in (topics.WINDOWS, topics.EXTRACTIONS, topics.READS, topics.MERGED, topics.MEMORIES):
        assert spec.config["max.compaction.lag.ms"] == str(topics.COMPACTION_LAG_MS)
        assert int(spec.config["segment.ms"]) < topics.COMPACTION_LAG_MS


def test_no_producers_clock_dates_a_message_in_the_log() -> None:
    assert topics.MESSAGES.config == {"message.timestamp.type": "LogAppendTime"}


def test_the_change_feed_is_compacted() -> None:
    assert topics.MEMORIES.cleanup == "compact"
