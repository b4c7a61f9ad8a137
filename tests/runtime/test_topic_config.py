"""A topic with a shorter retention than the flow needs is refused, with the command that corrects it."""

import pytest
from pydantic import ValidationError

from memory.topics import ALL, CONTRIBUTIONS, EXTRACTIONS, MEMORIES, MESSAGES, WINDOWS, TopicSpec
from runtime.kafka.topics import broker_config, weaker_settings
from runtime.settings import KafkaSettings
from tests.one_broker import one_broker

KAFKA = one_broker()
UNLIMITED = {"retention.bytes": "-1", "delete.retention.ms": "86400000"}


def test_topics_as_created_pass() -> None:
    for spec in ALL:
        wanted = broker_config(spec, KAFKA)
        assert weaker_settings(wanted, {**UNLIMITED, **wanted}, is_marked=bool(spec.mark)) == {}


def test_shorter_or_smaller_retention_is_weaker() -> None:
    wanted = broker_config(MESSAGES, KAFKA)
    found = {**UNLIMITED, **wanted}
    assert weaker_settings(wanted, {**found, "retention.ms": "3600000"}) == {"retention.ms": "-1"}
    assert weaker_settings(wanted, {**found, "retention.bytes": "1000000"}) == {"retention.bytes": "-1"}
    assert weaker_settings(wanted, {**found, "cleanup.policy": "compact,delete"}) == {"cleanup.policy": "delete"}
    assert weaker_settings(broker_config(CONTRIBUTIONS, KAFKA), {**found, "retention.ms": "-1"}) == {}, "it keeps more"


@pytest.mark.parametrize("spec", [WINDOWS, EXTRACTIONS], ids=lambda spec: spec.name)
def test_an_existing_marked_topic_is_not_compacted(spec: TopicSpec) -> None:
    """Its keys have no marks: compaction would remove records that no erasure covers, so it must stay uncompacted."""
    wanted = broker_config(spec, KAFKA)
    of_before = {**UNLIMITED, **wanted, "cleanup.policy": "delete"}
    assert weaker_settings(wanted, of_before, is_marked=True) == {}
    assert weaker_settings(wanted, {**of_before, "retention.ms": "604800000"}, is_marked=True) == {"retention.ms": "-1"}
    assert weaker_settings(wanted, {**of_before, "retention.bytes": "1000000"}, is_marked=True) == {"retention.bytes": "-1"}


def test_an_existing_marked_topic_is_accepted_as_created() -> None:
    """Kafka's own default of how long tombstones are kept concerns no topic that is not compacted."""
    wanted = broker_config(EXTRACTIONS, KAFKA)
    as_created = {**wanted, "cleanup.policy": "delete", "retention.ms": "-1", **UNLIMITED}
    assert weaker_settings(wanted, as_created, is_marked=True) == {}


def test_a_policy_that_deletes_unerased_records_is_weaker() -> None:
    wanted = broker_config(WINDOWS, KAFKA)
    both = {**UNLIMITED, **wanted, "cleanup.policy": "compact,delete"}
    assert weaker_settings(wanted, both, is_marked=True) == {"cleanup.policy": "compact"}
    unmarked = broker_config(MEMORIES, KAFKA)
    deleted = {**UNLIMITED, **unmarked, "cleanup.policy": "delete"}
    assert weaker_settings(unmarked, deleted) == {"cleanup.policy": "compact"}, "its keys are as they were"


def test_tombstones_that_go_too_early_are_weaker() -> None:
    wanted = broker_config(MEMORIES, KAFKA)
    assert wanted["delete.retention.ms"] == str(30 * 24 * 3600 * 1000)
    assert weaker_settings(wanted, {**UNLIMITED, **wanted, "delete.retention.ms": "86400000"}) == {"delete.retention.ms": "2592000000"}


def test_confirmation_by_fewer_replicas_is_weaker() -> None:
    wanted = broker_config(WINDOWS, KafkaSettings())
    found = {**UNLIMITED, **wanted, "min.insync.replicas": "1"}
    assert weaker_settings(wanted, found) == {"min.insync.replicas": "2"}
    assert weaker_settings(broker_config(WINDOWS, KAFKA), found) == {}, "one broker was named as such"


@pytest.mark.parametrize(("replicas", "minimum"), [(3, 1), (2, 3), (1, 2)])
def test_replicas_that_would_not_help_are_refused(replicas: int, minimum: int) -> None:
    with pytest.raises(ValidationError, match="VARVE_KAFKA__MIN_INSYNC_REPLICAS is"):
        KafkaSettings(replication_factor=replicas, min_insync_replicas=minimum)
