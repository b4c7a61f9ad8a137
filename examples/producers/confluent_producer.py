"""Produces three messages of one session to Varve, with confluent-kafka: python confluent_producer.py BOOTSTRAP TOPIC TENANT SESSION.

With SIGNING_KEY_ID and SIGNING_KEY (64 hexadecimal digits) in the environment they are signed; TRACEPARENT goes along as it is.
"""

import hmac
import json
import os
import sys
import time
from datetime import UTC, datetime
from urllib.parse import quote

from confluent_kafka import KafkaError, Message, Producer

TURNS = [("user", "I moved to Zürich."), ("assistant", "How do you like it?"), ("user", "The lake is lovely.")]
TIMEOUT_MS = int(os.environ.get("DELIVERY_TIMEOUT_MS", "60000"))


def session_key(tenant: str, session: str) -> bytes:
    """Percent-encoded parts, so that no name can hold a separator."""
    return "/".join(quote(part, safe="") for part in (tenant, session)).encode()


def record_value(tenant: str, session: str, number: int, role: str, text: str) -> bytes:
    """The message. Its id is the same at a second try, so that trying again stores nothing twice."""
    message = {
        "tenant": tenant,
        "user": "ada",
        "session": session,
        "id": f"m{number}",
        "role": role,
        "text": text,
        "event_time": datetime.now(UTC).isoformat(),
    }
    return json.dumps(message, ensure_ascii=False).encode()


def record_headers(value: bytes) -> list[tuple[str, bytes]]:
    """The signature and the trace, where the environment gives them."""
    headers = []
    if key := os.environ.get("SIGNING_KEY"):
        words = f"v1:{os.environ['SIGNING_KEY_ID']}:{int(time.time() * 1000)}"
        code = hmac.new(bytes.fromhex(key), f"varve-signature:{words}\n".encode() + value, "sha256").hexdigest()
        headers.append(("varve-signature", f"{words}:{code}".encode()))
    if trace := os.environ.get("TRACEPARENT"):
        headers.append(("traceparent", trace.encode()))
    return headers


def main(bootstrap: str, topic: str, tenant: str, session: str) -> None:
    """Hands over the messages in their order, then waits until each is with the brokers; exits with 1 where one is not."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "enable.idempotence": True,
            "delivery.timeout.ms": TIMEOUT_MS,
            # librdkafka's own default is CRC32: it would place a session elsewhere than Varve looks for it.
            "partitioner": "murmur2_random",
        }
    )
    failures: list[str] = []

    def delivered(error: KafkaError | None, record: Message) -> None:
        if error is not None:
            failures.append(str(error))
        else:
            print(f"partition {record.partition()}, offset {record.offset()}")

    for number, (role, text) in enumerate(TURNS, start=1):
        value = record_value(tenant, session, number, role, text)
        producer.produce(topic, value, key=session_key(tenant, session), headers=record_headers(value), on_delivery=delivered)
    producer.flush()
    if failures:
        sys.exit(f"{len(failures)} of {len(TURNS)} messages were not delivered: {failures[0]}")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
