"""The commands that write and show the control log, as they are typed, and an embedded stack's tenants, on a real broker."""

import asyncio
from pathlib import Path

import orjson
import pytest
import yaml

from control import read_control
from control.access_keys import hash_key
from control.errors import ChangedMeanwhileError, ChangeRefusedError
from control.log import audit_partition
from memory.errors import SchemaError
from memory.schema import scenario, to_json
from runtime.kafka import Producer
from runtime.settings import Settings
from tests.varve.typed_commands import TypedCommands
from varve.embedded.tenants import DeveloperTenant, key_path, prepare_tenants

pytestmark = pytest.mark.integration

TENANTS = "tenant\tschema\tkeys\tstate\tweight\tquota\tbudget"


@pytest.fixture
def run(settings: Settings) -> TypedCommands:
    return TypedCommands(settings, VARVE_REDIS__URL="redis://127.0.0.1:1/0")


def test_tenants_as_typed(settings: Settings, run: TypedCommands) -> None:
    key = run("tenants", "add", "acme", "--schema", "meetings", "--by", "ann").strip()
    state = asyncio.run(read_control(settings))
    holder = state.holder_of(hash_key(key))
    assert holder is not None
    assert holder[0].id == "acme"
    assert run("tenants", "list").splitlines() == [TENANTS, "acme\tmeetings@1\t1\tactive\t1\t-\t-"]
    assert key.encode() not in state.tenants["acme"].to_json()

    run("tenants", "set", "acme", "--budget", '{"policy": "offline"}', "--quota", '{"recalls_per_second": 3}')
    lines = run("tenants", "set", "acme", "--budget", '{"hard_tokens": 5}').splitlines()
    assert lines == ["tenant/acme budget.hard_tokens: - -> 5", 'tenant/acme budget.policy: "offline" -> -'], "it takes the place of all"
    run("tenants", "suspend", "acme")
    assert run("tenants", "list").endswith('suspended\t1\t{"recalls_per_second":3.0}\t{"hard_tokens":5}\n')
    run("tenants", "resume", "acme")
    run("tenants", "remove", "acme")
    assert run("tenants", "list").splitlines() == [TENANTS]

    lines = run("audit", "list", "--subject", "tenant/acme").splitlines()
    actions = ["tenant add", "tenant set", "tenant set", "tenant suspended", "tenant active", "tenant remove"]
    assert [line.split("\t")[2] for line in lines] == actions
    assert lines[0].split("\t")[1] == "ann"
    assert "was removed before: its keys read what it had stored" in run.result("tenants", "add", "acme").output
    assert key not in run("audit", "list", "--json")


def test_keys_as_typed(settings: Settings, run: TypedCommands) -> None:
    first = run("tenants", "add", "acme").strip()
    second = run("keys", "add", "acme", "--label", "phone", "--scope", "recall", "--user", "bob").strip()
    header, *keys = run("keys", "list", "acme").splitlines()
    assert header == "key\tlabel\tscopes\tuser\texpires\tlast used"
    first_id, second_id = (line.split("\t")[0] for line in keys)
    assert keys[1] == f"{second_id}\tphone\trecall\tbob\t-\t?"
    third = run("keys", "rotate", "acme", second_id, "--overlap-s", "3600").strip()
    run("keys", "revoke", "acme", first_id)
    known = asyncio.run(read_control(settings))
    assert [known.holder_of(hash_key(each)) is not None for each in (first, second, third)] == [False, True, True]
    lines = run("audit", "list", "--subject", "tenant/acme").splitlines()
    assert [line.split("\t")[2] for line in lines] == ["tenant add", "key add", "key rotate", "key revoke"]
    audited = run("audit", "list", "--json")
    assert all(key not in audited for key in (first, second, third))


def test_schemas_as_typed(run: TypedCommands, tmp_path: Path) -> None:
    run("tenants", "add", "acme", "--schema", "meetings")
    own = tmp_path / "own.json"
    own.write_bytes(orjson.dumps({**to_json(scenario("companion")), "Name": "own"}))
    assert run("schemas", "put", str(own)) == "own@1\n"
    assert run("schemas", "put", str(own)) == "own@1\n"
    run("tenants", "set", "acme", "--schema", "own")
    assert run("schemas", "list").splitlines() == ["meetings@1\t0 tenants\t-", "own@1\t1 tenant\t-"]
    assert orjson.loads(run("schemas", "show", "own"))["Name"] == "own"


def test_operators_as_typed(run: TypedCommands) -> None:
    operator = run("operators", "add", "--role", "viewer", "--label", "eve").strip()
    assert operator.startswith("va_")
    operators = run("operators", "list").splitlines()
    assert operators[0] == "key\tlabel\trole\texpires\tlast used"
    operator_id, label, role, expires, used = operators[1].split("\t")
    assert (label, role, expires, used) == ("eve", "viewer", "-", "?")
    run("operators", "revoke", operator_id)
    assert run("operators", "list").splitlines() == operators[:1]
    assert operator not in run("audit", "list", "--json")


def test_methods_as_typed(settings: Settings, run: TypedCommands, tmp_path: Path) -> None:
    run("tenants", "add", "acme", "--method", "memgpt")
    assert run("tenants", "list").splitlines()[1].startswith("acme\tcompanion+memgpt@1\t")
    own = tmp_path / "own.json"
    own.write_text(run("methods", "show", "memgpt").replace('"memgpt"', '"own"'))
    lines = run("tenants", "set", "acme", "--method", str(own)).splitlines()
    assert 'tenant/acme schema_ref.name: "companion+memgpt" -> "companion+own"' in lines
    run("generations", "add", "acme", "topics", "--method", "memochat")
    state = asyncio.run(read_control(settings))
    assert str(state.tenants["acme"].schema_of("topics")) == "companion+memochat@1"
    own.write_text('{"Method": "own", "Archive": {"Turns": 1}}')
    with pytest.raises(SchemaError, match=r"Method\.Archive\.Turns.*own\.json"):
        run("tenants", "set", "acme", "--method", str(own))
    file = tmp_path / "tenants.yaml"
    file.write_text(yaml.safe_dump({"tenants": [{"id": "acme", "schema": "meetings", "method": "memgpt", "generations": []}]}))
    assert 'tenant/acme schema_ref.name: "companion+own" -> "meetings+memgpt"' in run("apply", "-f", str(file)).splitlines()


def test_a_stack_selects_a_method_for_its_tenant(settings: Settings, run: TypedCommands) -> None:
    asyncio.run(prepare_tenants(settings, DeveloperTenant("dev", method="memgpt")))
    for method in (None, "memgpt"):
        asyncio.run(prepare_tenants(settings, DeveloperTenant("dev", method=method)))
        assert asyncio.run(read_control(settings)).tenants["dev"].schema_ref.name == "companion+memgpt"
    with pytest.raises(ChangeRefusedError, match=r"start without --method to keep it; then `varve tenants set dev --method memochat`"):
        asyncio.run(prepare_tenants(settings, DeveloperTenant("dev", method="memochat")))


def test_a_file_is_applied_shown_and_exported(run: TypedCommands, tmp_path: Path) -> None:
    path = tmp_path / "tenants.yaml"
    wanted = {"tenants": [{"id": "a", "schema": "companion", "weight": 2.0}, {"id": "b", "schema": "meetings"}]}
    path.write_text(yaml.safe_dump(wanted))
    shown = run("apply", "-f", str(path), "--dry-run")
    assert "tenant/a weight: - -> 2.0" in shown.splitlines()
    assert run("tenants", "list").splitlines() == [TENANTS]
    assert run("apply", "-f", str(path)) == shown
    assert run("apply", "-f", str(path)) == ""
    wanted["tenants"].pop()
    path.write_text(yaml.safe_dump(wanted))
    assert run("apply", "-f", str(path)) == "", "a tenant that is not listed stays"
    assert 'tenant/b state: "active" -> "removed"' in run("apply", "-f", str(path), "--prune").splitlines()
    exported = tmp_path / "exported.yaml"
    exported.write_text(run("export"))
    assert run("apply", "-f", str(exported), "--dry-run") == ""

    run("tenants", "set", "a", "--weight", "3")
    with pytest.raises(ChangedMeanwhileError, match=r"tenant/a \(revision 1 in the file, 2 now\).*--force"):
        run("apply", "-f", str(exported))
    (tmp_path / "desired.yaml").write_text(exported.read_text().replace("revision: 1", "# whichever"))
    assert run("apply", "-f", str(tmp_path / "desired.yaml"), "--dry-run") == run("apply", "-f", str(exported), "--force")
    assert "revision" not in run("export", "--no-revisions")


def test_a_forged_audit_record_is_found(settings: Settings, run: TypedCommands) -> None:
    run("tenants", "add", "acme")
    digest = run("audit", "verify").split()[-1]
    run("tenants", "set", "acme", "--weight", "2")
    run("audit", "verify", "--expect", digest)
    run("audit", "verify", "--expect", "0" * 63 + "1", exit_code=1)
    asyncio.run(_forge(settings))
    run("tenants", "set", "acme", "--weight", "3")
    assert "digest" in run("audit", "verify", exit_code=1), "a copy of a change was put in between"


def test_a_stack_imports_a_tenants_file_once(settings: Settings) -> None:
    file = {"tenants": [{"id": "old", "schema": "companion", "keys": [{"hash": hash_key("k")}]}], "operators": [{"hash": hash_key("o")}]}
    settings.tenants_path.parent.mkdir(parents=True, exist_ok=True)
    settings.tenants_path.write_bytes(orjson.dumps(file))
    developer = DeveloperTenant("dev", "companion")
    asyncio.run(prepare_tenants(settings, developer))
    state = asyncio.run(read_control(settings))
    key = key_path(settings, "dev").read_text()
    assert {"old", "dev"} == set(state.tenants)
    assert state.holder_of(hash_key("k")) is not None
    assert state.holder_of(hash_key(key)) is not None
    assert key_path(settings, "dev").stat().st_mode & 0o077 == 0

    settings.tenants_path.write_bytes(orjson.dumps({"tenants": []}))
    asyncio.run(prepare_tenants(settings, developer))
    again = asyncio.run(read_control(settings))
    assert again.position == state.position, "nothing is written twice, and the file is read no more"
    assert key_path(settings, "dev").read_text() == key


def test_a_stack_keeps_the_schema_that_its_tenant_has(settings: Settings, run: TypedCommands) -> None:
    asyncio.run(prepare_tenants(settings, DeveloperTenant("dev")))
    assert asyncio.run(read_control(settings)).tenants["dev"].schema_ref.name == "companion"
    with pytest.raises(ChangeRefusedError, match=r"start without --schema to keep it; then `varve tenants set dev --schema meetings`"):
        asyncio.run(prepare_tenants(settings, DeveloperTenant("dev", "meetings")))
    run("tenants", "set", "dev", "--schema", "meetings")
    for schema in (None, "meetings"):
        asyncio.run(prepare_tenants(settings, DeveloperTenant("dev", schema)))
        assert asyncio.run(read_control(settings)).tenants["dev"].schema_ref.name == "meetings"


async def _forge(settings: Settings) -> None:
    """Appends a copy of the last change."""
    from runtime.kafka import read_topic

    where = audit_partition(settings)
    values = [record.value async for record in read_topic(where.topic, settings.kafka, start={where: 0})]
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send(where.topic, key=b"tenant/acme", value=values[-1] or b"", partition=where.partition)
