"""``varve tenants signing...`` as it is typed, and the secret that an embedded stack keeps."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from control import read_control
from control.tenants import Tenant
from runtime.kafka import create_topics
from runtime.seals import Keyring
from runtime.settings import Settings
from tests.control_log import add_tenant
from tests.one_broker import one_broker
from tests.varve.typed_commands import TypedCommands
from varve.embedded.private_files import kept_secret
from varve.embedded.stack import EmbeddedStack
from varve.errors import SettingsError

SECRET = "m" * 32


@pytest.fixture
def settings(make_settings: Callable[..., Settings]) -> Settings:
    settings = make_settings(kafka=one_broker(partitions=1))
    asyncio.run(_prepared(settings))
    return settings


@pytest.fixture
def run(settings: Settings) -> TypedCommands:
    return TypedCommands(settings, "tenants", VARVE_SIGNING__SECRET=SECRET)


async def _prepared(settings: Settings) -> None:
    await create_topics(settings)
    await add_tenant(settings, "acme", schema="companion")


def tenant(settings: Settings) -> Tenant:
    return asyncio.run(read_control(settings)).tenants["acme"]


@pytest.mark.integration
def test_a_key_is_printed_and_not_stored(run: TypedCommands, settings: Settings) -> None:
    printed = run("signing-key", "acme", "2026-11").strip()
    assert printed == Keyring([SECRET]).message_key("acme", "2026-11").hex()
    assert printed.encode() not in tenant(settings).to_json()
    assert run("signing-key", "acme", "2026-11").strip() == printed


@pytest.mark.integration
def test_keys_overlap_until_one_is_retired(run: TypedCommands, settings: Settings) -> None:
    for key_id in ("old", "new"):
        run("signing-key", "acme", key_id)
    assert run("signing", "acme").splitlines() == ["optional", "old\tvalid", "new\tvalid"]
    shown = run("signing", "acme", "--required", "--retire", "old").splitlines()
    assert shown[0].startswith("required since ")
    assert shown[1].startswith("old\tretired at ")
    policy = tenant(settings).signing
    required_since, until = policy.required_since, policy.keys[0].until
    assert required_since is not None
    assert until is not None
    retired_ms = int(until.timestamp() * 1000)
    assert (policy.accepts("old", retired_ms - 1), policy.accepts("old", retired_ms + 1)) == (True, False)
    assert policy.accepts("new", retired_ms + 1)
    run("signing", "acme", "--required")
    assert tenant(settings).signing.required_since == required_since, "what was demanded before is not lifted"
    run("signing", "acme", "--optional")
    assert tenant(settings).signing.required_since is None


@pytest.mark.integration
def test_mistakes_are_named(run: TypedCommands) -> None:
    with pytest.raises(SettingsError, match="VARVE_SIGNING__SECRET"):
        run("signing-key", "acme", "k1", VARVE_SIGNING__SECRET=None)
    with pytest.raises(Exception, match="no signing key 'k9'; there are: none"):
        run("signing", "acme", "--retire", "k9")
    with pytest.raises(Exception, match="id"):
        run("signing-key", "acme", "no spaces")


def test_the_secret_of_a_stack_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def environment() -> dict[str, str]:
        return EmbeddedStack(settings=Settings(data=tmp_path)).environment()

    first = environment()["VARVE_SIGNING__SECRET"]
    assert len(first) >= 32
    assert environment()["VARVE_SIGNING__SECRET"] == first
    assert (tmp_path / "signing.secret").stat().st_mode & 0o077 == 0
    monkeypatch.setenv("VARVE_SIGNING__SECRET", SECRET)
    assert environment()["VARVE_SIGNING__SECRET"] == SECRET
    monkeypatch.delenv("VARVE_SIGNING__SECRET")
    monkeypatch.setenv("VARVE_KAFKA__BOOTSTRAP", "kafka.example:9092")
    assert "VARVE_SIGNING__SECRET" not in environment(), "processes elsewhere on that Kafka do not have it"


def test_processes_that_make_the_secret_together_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = {secret.get_secret_value() for secret in pool.map(kept_secret, [tmp_path / "data"] * 32)}
    assert len(made) == 1
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["signing.secret"]
