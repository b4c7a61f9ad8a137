"""``varve trust``, as it is typed, on a real broker."""

import asyncio

import pytest

from control import read_audit
from control.errors import ChangeRefusedError
from runtime.settings import Settings
from tests.varve.typed_commands import TypedCommands

pytestmark = pytest.mark.integration


@pytest.fixture
def run(settings: Settings) -> TypedCommands:
    return TypedCommands(settings)


def test_levels_are_set_listed_and_audited(settings: Settings, run: TypedCommands) -> None:
    run("tenants", "add", "acme")
    assert run("trust", "list", "acme").splitlines()[0] == "no levels are set: every source is normal"
    shown = run("trust", "set", "acme", "tool:*=untrusted", "app:crm=trusted", "--no-apply", "--by", "ops")
    assert "tool:*" in shown
    run("trust", "set", "acme", "app:crm=none", "source:a=b=distrusted", "--entities-from", "untrusted", "--no-apply")
    first, *rows = run("trust", "list", "acme").splitlines()
    assert first.endswith("not applied yet; memories from the level untrusted up change entities")
    assert rows == ["source\tlevel", "source:a=b\tdistrusted", "tool:*\tuntrusted"]
    assert '"tool:*": "untrusted"' in run("export").replace('":"', '": "') or "tool:*" in run("export")
    for wrong in ("browser=untrusted", "tool:browser=evil"):
        with pytest.raises(ChangeRefusedError, match=wrong.partition("=")[0]):
            run("trust", "set", "acme", wrong, "--no-apply")
    run("trust", "set", "acme", "tool:browser", exit_code=2)
    check, audited = asyncio.run(read_audit(settings))
    assert check.problems == []
    assert [each.action for each in audited].count("trust set") == 2
