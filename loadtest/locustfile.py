"""Locust's program: runs each arrival of a schedule in its own greenlet, and measures its latency from its scheduled start.

``python -m loadtest`` starts it. ``VARVE_LOAD`` names a JSON file with the targets and the load. The outcome of each arrival is a line of
the file that ``outcomes`` in it names.
"""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import gevent
from confluent_kafka import Producer
from geventhttpclient import HTTPClient
from locust import User, task
from locust.exception import StopUser

from loadtest.outcomes import NOT_RECALLED, end_line
from loadtest.schedule import LOAD_PROFILES, Arrival, Texts, arrivals
from memory.keys import encode_key

GIVEN: dict[str, Any] = json.loads(Path(os.environ["VARVE_LOAD"]).read_text())
PROBE_DEADLINE_S = 30.0
DRAIN_S = 60.0


class OpenLoop(User):  # type: ignore[misc]
    """The only Locust user: it starts each arrival at its scheduled time."""

    fixed_count = 1

    def on_start(self) -> None:
        """Opens the connections."""
        self.http = HTTPClient.from_url(GIVEN["service_url"], concurrency=200, connection_timeout=10, network_timeout=60)
        self.producer = Producer(
            {
                "bootstrap.servers": GIVEN["bootstrap"],
                "linger.ms": 5,
                "enable.idempotence": True,
                "message.timeout.ms": 30_000,
                # The client's default puts sessions in partitions from which Varve must forward them: twice the work, and after a flush.
                "partitioner": "murmur2_random",
            }
        )
        self.accepted: set[str] = set()

    @task  # type: ignore[untyped-decorator]
    def everything(self) -> None:
        """Runs the whole schedule, and waits for running arrivals."""
        # Each line is flushed, so that an interrupted run leaves its outcomes.
        with Path(GIVEN["outcomes"]).open("w", buffering=1) as self.outcomes:
            self._run_schedule()
            self.outcomes.write(end_line() + "\n")
        self.environment.runner.quit()
        raise StopUser

    def _run_schedule(self) -> None:
        polling = gevent.spawn(self._poll)
        begun = time.time()
        running = []
        texts = Texts(GIVEN["said"], GIVEN["asked"])
        for arrival in arrivals(LOAD_PROFILES[GIVEN["profile"]].lasting(GIVEN["seconds"]), seed=GIVEN["seed"], texts=texts):
            wait_s = begun + arrival.at_s - time.time()
            if wait_s > 0:
                gevent.sleep(wait_s)
            running.append(gevent.spawn(self._run, arrival, begun + arrival.at_s))
            if len(running) > 1000:
                running = [each for each in running if not each.dead]
        gevent.joinall(running, timeout=DRAIN_S)
        gevent.killall(running)
        self.producer.flush(DRAIN_S)
        polling.kill()

    def _poll(self) -> None:
        # The C library's threads do not work with greenlets: poll for its reports.
        while True:
            self.producer.poll(0)
            gevent.sleep(0.01)

    def _run(self, arrival: Arrival, intended: float) -> None:
        try:
            getattr(self, f"_{arrival.kind}")(arrival, intended)
        except Exception as error:
            self._note(arrival, intended, error=f"{type(error).__name__}: {error}")

    def _http(self, arrival: Arrival, intended: float) -> None:
        self._send(arrival)
        self._note(arrival, intended)

    def _kafka(self, arrival: Arrival, intended: float) -> None:
        tenant = GIVEN["tenants"][arrival.tenant]["id"]
        message = {"tenant": tenant, **self._message(arrival)}

        def delivered(error: object, _: object) -> None:
            if error is None:
                self.accepted.add(arrival.id)
            self._note(arrival, intended, error=None if error is None else str(error))

        self.producer.produce(
            GIVEN["topic"], key=encode_key(tenant, arrival.session), value=json.dumps(message).encode(), on_delivery=delivered
        )

    def _recall(self, arrival: Arrival, intended: float) -> None:
        self._post(arrival, "/v1/recall", {"query": arrival.text})
        self._note(arrival, intended)

    def _probe(self, arrival: Arrival, intended: float) -> None:
        self._send(arrival)
        self._post(arrival, "/v1/flush", {"session": arrival.session})
        closed = time.time()
        while time.time() < closed + PROBE_DEADLINE_S:
            results = self._post(arrival, "/v1/recall", {"query": arrival.text, "user": arrival.user})["results"]
            if any(arrival.id in result["evidence"] for result in results):
                self._note(arrival, closed)
                return
            gevent.sleep(0.05)
        self._note(arrival, closed, error=f"{NOT_RECALLED} {PROBE_DEADLINE_S:g} s after its window closed")

    def _send(self, arrival: Arrival) -> None:
        self._post(arrival, "/v1/messages", [self._message(arrival)])
        self.accepted.add(arrival.id)

    def _message(self, arrival: Arrival) -> dict[str, Any]:
        return {
            "user": arrival.user,
            "session": arrival.session,
            "id": arrival.id,
            "text": arrival.text,
            "event_time": datetime.now(UTC).isoformat(),
        }

    def _post(self, arrival: Arrival, path: str, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {GIVEN['tenants'][arrival.tenant]['key']}", "Content-Type": "application/json"}
        answer = self.http.post(path, body=json.dumps(body).encode(), headers=headers)
        text = bytes(answer.read())
        if not 200 <= answer.status_code < 300:
            raise RuntimeError(f"{path} answered {answer.status_code}: {text[:200]!r}")
        return json.loads(text)

    def _note(self, arrival: Arrival, since: float, *, error: str | None = None) -> None:
        seconds = time.time() - since
        is_accepted = arrival.id in self.accepted
        outcome = {"kind": arrival.kind, "id": arrival.id, "seconds": seconds, "error": error, "accepted": is_accepted}
        self.outcomes.write(json.dumps(outcome) + "\n")
        self.environment.events.request.fire(
            request_type=arrival.kind,
            name=arrival.kind,
            response_time=seconds * 1000,
            response_length=0,
            exception=None if error is None else RuntimeError(error),
            context={},
        )
