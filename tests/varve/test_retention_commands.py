"""``varve tenants set --retention``, ``varve retention run`` and ``varve holds``, as they are typed, on a real broker."""

import asyncio
from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from control import read_audit, read_control
from control.erasure import subject_of
from control.errors import ChangeRefusedError, LegalHoldError
from runtime.kafka import create_topics
from runtime.settings import Settings
from tests.one_broker import one_broker
from varve.cli.application import app

pytestmark = pytest.mark.integration

Run = Callable[..., str]


@pytest.fixture
def settings(make_settings: Callable[..., Settings]) -> Settings:
    settings = make_settings(kafka=one_broker(partitions=2))
    asyncio.run(create_topics(settings))
    return settings


@pytest.fixture
def run(settings: Settings, redis_url: str) -> Run:
    environment = {
        "VARVE_DATA": str(settings.data),
        "VARVE_KAFKA__BOOTSTRAP": settings.kafka.bootstrap,
        "VARVE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "VARVE_KAFKA__PARTITIONS": "2",
        "VARVE_KAFKA__REPLICATION_FACTOR": "1",
        "VARVE_KAFKA__MIN_INSYNC_REPLICAS": "1",
        "VARVE_CONTROL__LEASE_S": "0.2",
        "VARVE_REDIS__URL": redis_url,
    }

    def invoke(*arguments: str, exit_code: int = 0) -> str:
        result = CliRunner().invoke(app, (*arguments,), env=environment)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == exit_code, result.output
        return result.stdout

    return invoke


def test_retention_is_set_shown_and_run(settings: Settings, run: Run) -> None:
    run("tenants", "add", "acme")
    shown = run("tenants", "set", "acme", "--retention", '{"*": "90d", "messages": "1y"}')
    assert "retention" in shown
    assert "90d" in run("export")
    assert run("retention", "run", "--dry-run").splitlines() == ["tenant\twindows\tresults\textractions\trecords\treads"]
    with pytest.raises(ChangeRefusedError, match="no schema of it has a type 'chatt'"):
        run("tenants", "set", "acme", "--retention", '{"chatt": "90d"}')
    with pytest.raises(ChangeRefusedError, match="write a whole number and a unit"):
        run("tenants", "set", "acme", "--retention", '{"*": "90"}')


def test_a_hold_is_placed_listed_and_released(settings: Settings, run: Run) -> None:
    run("tenants", "add", "acme")
    run("holds", "place", "acme", "--user", "ann", "--reason", "case 17", "--by", "counsel")
    run("holds", "place", "acme", "--reason", "case 18", "--by", "counsel")
    lines = [line.split("\t") for line in run("holds", "list", "acme").splitlines()]
    assert [(each[1], each[3], each[4], each[5]) for each in lines[1:]] == [
        (subject_of("acme", "ann")[:12], "counsel", "case 17", "-"),
        ("all users", "counsel", "case 18", "-"),
    ]
    with pytest.raises(LegalHoldError, match="case 17"):
        run("erase", "acme", "ann", "--yes")
    run("holds", "release", "acme", "--user", "ann", "--reason", "settled", "--by", "court")
    assert "settled" in run("holds", "list")
    with pytest.raises(LegalHoldError, match="a legal hold on the tenant"):
        run("erase", "acme", "ann", "--yes")
    check, audited = asyncio.run(read_audit(settings))
    assert check.problems == []
    assert [(each.action, each.by) for each in audited if each.subject.startswith("hold/acme/")] == [
        ("hold place", "counsel"),
        ("hold place", "counsel"),
        ("hold release", "court"),
    ]
    assert not any(b'"ann"' in each.to_json() for each in audited)
    assert asyncio.run(read_control(settings)).erasures == {}
