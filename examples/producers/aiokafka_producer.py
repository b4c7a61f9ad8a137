"""Produces three messages of one session to Varve, with aiokafka: python aiokafka_producer.py BOOTSTRAP TOPIC TENANT SESSION.

With SIGNING_KEY_ID and SIGNING_KEY (64 hexadecimal digits) in the environment they are signed; TRACEPARENT goes along as it is.
"""

import asyncio
import hmac
import json
import os
import sys
import time
from datetime import UTC, datetime
from urllib.parse import quote

from aiokafka import AIOKafkaProducer

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


async def main(bootstrap: str, topic: str, tenant: str, session: str) -> None:
    """Sends the messages in their order and waits for the brokers to have each; what goes wrong is raised."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True, request_timeout_ms=TIMEOUT_MS)
    await producer.start()
    try:
        for number, (role, text) in enumerate(TURNS, start=1):
            value = record_value(tenant, session, number, role, text)
            sent = await producer.send_and_wait(topic, value, key=session_key(tenant, session), headers=record_headers(value))
            print(f"m{number}: partition {sent.partition}, offset {sent.offset}")
    finally:
        await producer.stop()


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
