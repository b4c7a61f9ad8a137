import ssl

import pytest
from aiokafka.errors import InvalidTimestampError, KafkaConnectionError, MessageSizeTooLargeError, UnknownTopicOrPartitionError
from pydantic import SecretStr

from memory.errors import RecordTooLargeError, VarveError
from memory.topics import ALL, CONTRIBUTIONS, DEAD_LETTERS, MEMORIES, WINDOWS
from runtime.errors import KafkaUnavailableError, TopicMissingError
from runtime.kafka import client_options
from runtime.kafka.client import kafka_faults
from runtime.kafka.topics import broker_config
from runtime.settings import KafkaSettings


def test_a_plain_broker_needs_addresses_only() -> None:
    assert client_options(KafkaSettings(bootstrap="a:1, b:2", request_timeout_s=1.5)) == {
        "bootstrap_servers": ["a:1", "b:2"],
        "request_timeout_ms": 1500,
        "security_protocol": "PLAINTEXT",
    }


def test_a_secured_broker_gets_certificates_and_credentials() -> None:
    options = client_options(
        KafkaSettings(security_protocol="SASL_SSL", sasl_mechanism="SCRAM-SHA-512", sasl_username="u", sasl_password=SecretStr("p"))
    )
    assert isinstance(options["ssl_context"], ssl.SSLContext)
    assert options["ssl_context"].verify_mode == ssl.CERT_REQUIRED
    assert (options["sasl_mechanism"], options["sasl_plain_username"], options["sasl_plain_password"]) == ("SCRAM-SHA-512", "u", "p")


def test_sasl_without_tls_opens_no_tls() -> None:
    options = client_options(KafkaSettings(security_protocol="SASL_PLAINTEXT", sasl_username="u", sasl_password=SecretStr("p")))
    assert "ssl_context" not in options


def test_sasl_without_credentials_is_refused() -> None:
    with pytest.raises(ValueError, match="VARVE_KAFKA__SASL_PASSWORD"):
        client_options(KafkaSettings(security_protocol="SASL_SSL", sasl_username="u"))


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (KafkaConnectionError("refused"), KafkaUnavailableError),
        (ConnectionResetError(), KafkaUnavailableError),
        (TimeoutError(), KafkaUnavailableError),
        (UnknownTopicOrPartitionError(), TopicMissingError),
        (MessageSizeTooLargeError(), RecordTooLargeError),
        (InvalidTimestampError(), KafkaUnavailableError),
    ],
)
def test_aiokafka_errors_become_our_own(raised: Exception, expected: type[VarveError]) -> None:
    reason = "doing this.*refuses the time" if isinstance(raised, InvalidTimestampError) else "doing this"
    with pytest.raises(expected, match=reason) as caught, kafka_faults("doing this", KafkaSettings()):
        raise raised
    assert caught.value.__cause__ is raised


def test_each_topic_is_configured_by_its_spec() -> None:
    kafka = KafkaSettings(min_insync_replicas=2, max_message_bytes=2_000_000)
    assert broker_config(CONTRIBUTIONS, kafka) == {
        "cleanup.policy": "delete",
        "retention.ms": str(7 * 24 * 3600 * 1000),
        "min.insync.replicas": "2",
        "max.message.bytes": "2000000",
        "segment.ms": str(24 * 3600 * 1000),
    }
    assert broker_config(WINDOWS, kafka) == {
        "cleanup.policy": "compact",
        "retention.ms": "-1",
        "min.insync.replicas": "2",
        "max.message.bytes": "2000000",
        "max.compaction.lag.ms": str(7 * 24 * 3600 * 1000),
        "segment.ms": str(24 * 3600 * 1000),
    }
    assert broker_config(MEMORIES, kafka)["cleanup.policy"] == "compact"


def test_dead_letter_topic_accepts_largest_record_plus_headers() -> None:
    kafka = KafkaSettings()
    largest = max(int(broker_config(spec, kafka)["max.message.bytes"]) for spec in ALL if spec != DEAD_LETTERS)
    assert int(broker_config(DEAD_LETTERS, kafka)["max.message.bytes"]) >= largest + 65_536
