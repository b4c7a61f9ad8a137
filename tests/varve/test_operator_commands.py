"""The operators' commands, as they are typed, on a real broker."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from control.errors import ChangeRefusedError
from control.generations.switching import set_start
from memory.keys import encode_key
from memory.records import Usage
from runtime.kafka import OutgoingRecord, Producer
from runtime.settings import Settings
from streams.engine.failures.dead_letters import SMALLEST_LIMIT as LIMIT
from streams.engine.failures.dead_letters import dead_letter
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Rejection
from tests.one_broker import records_written
from tests.varve.typed_commands import TypedCommands
from varve.cli.application import app

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


@pytest.fixture
def run(settings: Settings) -> TypedCommands:
    return TypedCommands(settings)


@pytest.mark.integration
def test_dead_letters_are_listed_shown_redriven_and_purged(settings: Settings, run: TypedCommands) -> None:
    key = encode_key("acme", "s")
    source = ConsumedRecord(settings.topic("messages"), 0, 7, key, b"\xff", (), 0.0)
    (letter,) = dead_letter(
        settings.topic("dead-letters"),
        Rejection(source, "malformed", "not\nJSON \x1b[2J\u202e"),
        limit=LIMIT,
        stage="sessions",
        attempts=1,
        first_attempt_at=NOON,
        last_attempt_at=NOON,
    )
    _produce(settings, OutgoingRecord(topic=letter.topic, key=key, value=letter.value, headers=letter.headers))
    (line,) = run("dlq", "list", "--tenant", "acme", "--json").splitlines()
    place = orjson.loads(line)["place"]
    assert "malformed\tnot JSON \\u001b[2J\\u202e\n" in run("dlq", "list", "--since", "2024-05-06T12:00:00")
    assert "1 of sessions: malformed, tenant acme\n1 dead letter\n" in run.result("dlq", "list").stderr
    assert run("dlq", "list", "--until", "2024-05-06") == ""
    assert orjson.loads(run("dlq", "show", place))["value_base64"] == "/w=="
    run("dlq", "redrive", exit_code=2)
    assert "1 redriven" in run("dlq", "redrive", "--at", place)
    assert run("dlq", "list") == ""
    for action in ("redrive", "purge"):
        again = run.result("dlq", action, "--at", place, "--at", "0/99")
        assert again.exit_code == 1
        assert "no such dead letter at 2 of the places" in again.stderr
    assert "redriven" in run("dlq", "list", "--settled")
    assert run("dlq", "purge", "--all", "--settled") == "1 purged\n"
    assert run("dlq", "list", "--settled") == ""
    run("dlq", "show", "nowhere", exit_code=2)


@pytest.mark.integration
def test_replay_and_generations_on_an_empty_broker(settings: Settings, run: TypedCommands) -> None:
    assert "nothing to reset" in run("replay", "events")
    run("replay", "extraction", "--generation", "v2", "--from-offset", "3", exit_code=2)
    run("tenants", "add", "acme")
    run("replay", "extraction", "--tenant", "acme", exit_code=2)
    for generation, problem in (("v2", "no tenant has"), ("-", "is live on every")):
        with pytest.raises(ChangeRefusedError, match=problem):
            run("replay", "extraction", "--generation", generation)
    assert run("generations", "list", "acme") == "-\tcompanion@1\tlive\n"
    run("generations", "add", "acme", "v2", "--schema", "meetings")
    assert run("generations", "list", "acme").splitlines() == ["-\tcompanion@1\tlive", "v2\tmeetings@1\t"]
    asyncio.run(set_start(settings, "v2", since=NOON))
    assert run("generations", "list", "acme").splitlines()[1] == "v2\tmeetings@1\t0 windows before its worker"
    assert "is live" in run("generations", "switch", "acme", "v2", "--incomplete")
    assert run("generations", "list", "acme").splitlines() == ["-\tcompanion@1\t", "v2\tmeetings@1\tlive"]
    assert run("generations", "drop", "acme", "-") == "the running stages will retract 0 windows of generation -\n"
    assert asyncio.run(records_written(settings, "extractions")) == settings.kafka.partitions, "a mark in each, and nothing else"


@pytest.mark.integration
def test_replay_works_on_a_stopped_stacks_servers(settings: Settings, run: TypedCommands, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Path] = []

    @asynccontextmanager
    async def servers(given: Settings, *, notice: Callable[[str], None]) -> AsyncIterator[Settings]:
        started.append(given.data)
        yield settings

    monkeypatch.setattr("varve.embedded.lifecycle.running_servers", servers)
    assert "nothing to reset" in run("replay", "events", "--embedded")
    assert started == [settings.data]
    for options in (("events", "--follow"), ("extraction", "--generation", "v2")):
        run("replay", *options, "--embedded", exit_code=2)


@pytest.mark.integration
def test_usage_is_summed_by_tenant_stage_and_model(settings: Settings, run: TypedCommands) -> None:
    for tenant, tokens, hour in (("acme", 100, 1), ("acme", 50, 2), ("umbrella", 7, 2)):
        usage = Usage(tenant=tenant, stage="extraction", model="m", prompt_tokens=tokens, cached_tokens=10, time=NOON.replace(hour=hour))
        _produce(settings, OutgoingRecord(topic=settings.topic("usage"), key=encode_key(tenant), value=usage.to_json()))
    _produce(settings, OutgoingRecord(topic=settings.topic("usage"), key=encode_key("acme"), value=b"{"))
    (total,) = map(orjson.loads, run("usage", "--tenant", "acme", "--json").splitlines())
    assert (total["calls"], total["estimated_calls"], total["prompt_tokens"], total["cached_tokens"]) == (2, 0, 150, 20)
    later = [orjson.loads(line) for line in run("usage", "--since", "2024-05-06T02:00:00Z", "--json").splitlines()]
    assert [(each["tenant"], each["prompt_tokens"]) for each in later] == [("acme", 50), ("umbrella", 7)]
    shown = run("usage")
    assert all(name in shown for name in ("umbrella", "extraction", "estimated", "completion")), "nothing is cut where no terminal is"
    assert run("usage", "--stage", "entities", "--json") == ""


def test_the_prompt_of_a_schema_is_shown() -> None:
    result = CliRunner().invoke(app, ["prompt", "companion"])
    assert result.exit_code == 0
    assert "life_event" in result.stdout
    assert "tokens in the schema's part" in result.stderr


def _produce(settings: Settings, record: OutgoingRecord) -> None:
    async def produce() -> None:
        async with Producer(kafka=settings.kafka) as producer:
            await producer.send_many([record])

    asyncio.run(produce())
