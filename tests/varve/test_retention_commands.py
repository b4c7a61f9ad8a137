"""``varve tenants set --retention``, ``varve retention run`` and ``varve holds``, as they are typed, on a real broker."""

import asyncio

import pytest

from control import read_audit, read_control
from control.erasure import subject_of
from control.errors import ChangeRefusedError, LegalHoldError
from runtime.settings import Settings
from tests.varve.typed_commands import TypedCommands

pytestmark = pytest.mark.integration


@pytest.fixture
def run(settings: Settings, redis_url: str) -> TypedCommands:
    return TypedCommands(settings, VARVE_REDIS__URL=redis_url)


def test_retention_is_set_shown_and_run(settings: Settings, run: TypedCommands) -> None:
    run("tenants", "add", "acme")
    shown = run("tenants", "set", "acme", "--retention", '{"*": "90d", "messages": "1y"}')
    assert "retention" in shown
    assert "90d" in run("export")
    assert run("retention", "run", "--dry-run").splitlines() == ["tenant\twindows\tresults\textractions\trecords\treads"]
    with pytest.raises(ChangeRefusedError, match="no schema of it has a type 'chatt'"):
        run("tenants", "set", "acme", "--retention", '{"chatt": "90d"}')
    with pytest.raises(ChangeRefusedError, match="write a whole number and a unit"):
        run("tenants", "set", "acme", "--retention", '{"*": "90"}')


def test_a_hold_is_placed_listed_and_released(settings: Settings, run: TypedCommands) -> None:
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
