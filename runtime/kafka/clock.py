"""Reads Kafka's clock.

Kafka has no request for the time. But the active controller stamps its own state with its clock when it describes its quorum.
"""

import asyncio
from datetime import datetime
from typing import ClassVar, Final

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import IncompatibleBrokerVersion, for_code
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import CompactArray, CompactString, Int16, Int32, Int64, Schema, TaggedFields

from memory.times import time_of_milliseconds
from runtime.kafka.client import kafka_faults
from runtime.settings import KafkaSettings

_QUORUM: Final = ("__cluster_metadata", 0)
"""The log of the controllers, and its only partition."""
_API_KEY: Final = 55
_FORBIDDEN: Final = 31
"""CLUSTER_AUTHORIZATION_FAILED: the user may not describe the cluster."""
_REPLICAS: Final = CompactArray(
    ("replica_id", Int32),
    ("log_end_offset", Int64),
    ("last_fetch_timestamp", Int64),
    ("last_caught_up_timestamp", Int64),
    ("tags", TaggedFields),
)


class _QuorumResponse(Response):  # type: ignore[misc]
    API_KEY = _API_KEY
    API_VERSION = 1
    SCHEMA = Schema(
        ("error_code", Int16),
        (
            "topics",
            CompactArray(
                ("topic", CompactString("utf-8")),
                (
                    "partitions",
                    CompactArray(
                        ("partition", Int32),
                        ("error_code", Int16),
                        ("leader_id", Int32),
                        ("leader_epoch", Int32),
                        ("high_watermark", Int64),
                        ("voters", _REPLICAS),
                        ("observers", _REPLICAS),
                        ("tags", TaggedFields),
                    ),
                ),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class _QuorumRequestStruct(RequestStruct):  # type: ignore[misc]
    API_KEY = _API_KEY
    API_VERSION = 1
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = _QuorumResponse
    SCHEMA = Schema(
        (
            "topics",
            CompactArray(
                ("topic", CompactString("utf-8")),
                ("partitions", CompactArray(("partition", Int32), ("tags", TaggedFields))),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class _QuorumRequest(Request[_QuorumRequestStruct]):  # type: ignore[misc]
    """DescribeQuorum (KIP-595, KIP-836), which aiokafka lacks."""

    API_KEY: ClassVar[int] = _API_KEY

    def build(self, request_struct_class: type[_QuorumRequestStruct]) -> _QuorumRequestStruct:
        topic, partition = _QUORUM
        return request_struct_class([(topic, [(partition, {})], {})], {})


async def kafka_time(admin: AIOKafkaAdminClient, kafka: KafkaSettings) -> datetime | None:
    """The clock of Kafka's active controller; None if the user may not describe the cluster, or the brokers are too old.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    with kafka_faults("asking for Kafka's time", kafka):
        try:
            async with asyncio.timeout(kafka.request_timeout_s):
                response = await admin._send_request(_QuorumRequest())  # noqa: SLF001 - aiokafka lacks the request
        except (IncompatibleBrokerVersion, NotImplementedError):
            return None
        if response.error_code == _FORBIDDEN:
            return None
        if response.error_code:
            raise for_code(response.error_code)("describing the controllers' quorum")
    ((_, partitions, _),) = response.topics
    ((_, _, leader, _, _, voters, _, _),) = partitions
    stamps = [caught_up_ms for replica, _, _, caught_up_ms, _ in voters if replica == leader]
    return time_of_milliseconds(stamps[0]) if stamps and stamps[0] > 0 else None
