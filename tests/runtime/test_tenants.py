import asyncio
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest

from memory.errors import SchemaError
from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.metrics import Metrics
from runtime.settings import BudgetSettings
from runtime.tenants import TenantDirectory, add_tenant, hash_key
from runtime.tenants_file import add_admin_key, add_generation, set_generation

SCHEMA = {
    "Name": "notes",
    "EventTypes": [{"EventType": "note", "Description": "A note.", "Properties": []}],
    "EntityTypes": [],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conf" / "tenants.json"


def _touch_later(path: Path, text: str) -> None:
    before = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(before + 1_000_000, before + 1_000_000))


def test_only_the_hash_of_a_key_is_kept(path: Path) -> None:
    key = add_tenant(path, "acme", schema="companion")
    directory = TenantDirectory(path=path)
    assert directory.get("acme").schema_name == "companion"
    assert directory.by_api_key(key) == directory.get("acme")
    assert directory.by_api_key(key + "x") is None
    assert directory.by_api_key("\ud800") is None
    assert directory.schema_of("acme").name
    assert key not in path.read_text()
    assert hash_key(key) in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_opens_its_own_tenant_only(path: Path) -> None:
    keys = {name: add_tenant(path, name, schema="companion") for name in ("a", "b")}
    directory = TenantDirectory(path=path)
    for name, key in keys.items():
        tenant = directory.by_api_key(key)
        assert tenant is not None
        assert tenant.id == name


def test_a_second_key_opens_the_same_tenant(path: Path) -> None:
    keys = [add_tenant(path, "acme", schema="companion") for _ in range(2)]
    directory = TenantDirectory(path=path)
    assert [tenant.id for tenant in directory.all()] == ["acme"]
    assert {directory.by_api_key(key) for key in keys} == {directory.get("acme")}


def test_a_tenant_added_while_running_is_seen(path: Path) -> None:
    add_tenant(path, "first", schema="companion")
    directory = TenantDirectory(path=path)
    with pytest.raises(UnknownTenantError, match="second"):
        directory.get("second")
    add_tenant(path, "second", schema="meetings")
    assert directory.get("second").id == "second"


def test_a_broken_edit_keeps_the_last_good_file(path: Path) -> None:
    add_tenant(path, "acme", schema="companion")
    good = path.read_text()
    directory = TenantDirectory(path=path)
    _touch_later(path, good[:-5])
    assert directory.get("acme").id == "acme"
    _touch_later(path, good.replace('"acme"', '"umbrella"'))
    assert [tenant.id for tenant in directory.all()] == ["umbrella"]
    path.unlink()
    assert directory.get("umbrella").id == "umbrella"


def test_a_changed_schema_file_is_read_again(path: Path) -> None:
    path.parent.mkdir()
    schema = path.parent / "notes.json"
    schema.write_bytes(orjson.dumps(SCHEMA))
    add_tenant(path, "acme", schema="notes.json")
    directory = TenantDirectory(path=path)
    assert [each.name for each in directory.schema_of("acme").event_types] == ["note"]
    _touch_later(schema, schema.read_text().replace('"note"', '"remark"'))
    assert [each.name for each in directory.schema_of("acme").event_types] == ["remark"]


BROKEN = ['{"Name": "notes", "EventTypes": [{"EventType": "note"', '{"Name": "notes", "EventTypes": [{"EventType": 7}]}', None]
"""Half-written, refused by the checks, and missing."""


@pytest.fixture
def schema(path: Path) -> Path:
    """The file of a tenant's own schema."""
    path.parent.mkdir()
    file = path.parent / "notes.json"
    file.write_bytes(orjson.dumps(SCHEMA))
    add_tenant(path, "acme", schema="notes.json")
    return file


def _break(schema: Path, content: str | None) -> None:
    if content is None:
        schema.unlink()
    else:
        _touch_later(schema, content)


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_schema_edit_keeps_the_last_good(path: Path, schema: Path, content: str | None) -> None:
    metrics = Metrics()
    directory = TenantDirectory(path=path, metrics=metrics)
    good = directory.schema_of("acme")
    text = schema.read_text()
    _break(schema, content)

    for _ in range(3):
        assert directory.schema_of("acme") == good
    assert list(directory.refused) == ["notes.json"]
    assert b"varve_refused_files 1.0" in metrics.render()

    add_tenant(path, "umbrella", schema="companion")
    assert directory.get("umbrella")
    assert directory.schema_of("acme") == good, "the tenants' file was read again meanwhile"

    schema.write_text(text.replace('"note"', '"remark"'))
    assert [each.name for each in directory.schema_of("acme").event_types] == ["remark"]
    assert not directory.refused
    assert b"varve_refused_files 0.0" in metrics.render()


@pytest.mark.parametrize("content", BROKEN)
def test_a_new_process_takes_the_last_good_copy(path: Path, schema: Path, content: str | None, tmp_path: Path) -> None:
    copies = tmp_path / "schemas"
    good = TenantDirectory(path=path, schema_copies=copies).schema_of("acme")
    _break(schema, content)
    assert TenantDirectory(path=path, schema_copies=copies).schema_of("acme") == good
    with pytest.raises(SchemaError, match="notes"):
        TenantDirectory(path=path, schema_copies=tmp_path / "another machine").schema_of("acme")


def test_a_schema_that_is_mended_serves_at_once(path: Path, schema: Path) -> None:
    good = schema.read_text()
    schema.write_text(good[:-20])
    directory = TenantDirectory(path=path)
    for _ in range(2):
        with pytest.raises(SchemaError, match="not JSON"):
            directory.schema_of("acme")
    _touch_later(schema, good)
    assert directory.schema_of("acme").name == "notes"


@pytest.mark.parametrize("content", ['{"tenants": [{"id": "acm', "", None])
def test_a_half_written_tenants_file_is_told(path: Path, content: str | None) -> None:
    metrics = Metrics()
    add_tenant(path, "acme", schema="companion")
    directory = TenantDirectory(path=path, metrics=metrics)
    good = path.read_text()
    _break(path, content)
    assert directory.get("acme").id == "acme"
    assert list(directory.refused) == ["tenants.json"]
    assert b"varve_refused_files 1.0" in metrics.render()
    path.write_text(good.replace('"acme"', '"umbrella"'))
    assert [tenant.id for tenant in directory.all()] == ["umbrella"]
    assert not directory.refused


def _write_many(path: Path, count: int) -> None:
    tenants = [{"id": f"tenant-{number}", "schema": "companion", "key_hashes": [hash_key(str(number))]} for number in range(count)]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(orjson.dumps({"tenants": tenants}))


async def test_a_large_file_leaves_the_loop_free(path: Path) -> None:
    _write_many(path, 10_000)
    directory = TenantDirectory(path=path)
    draft = path.with_name("draft.json")
    _write_many(draft, 10_001)
    assert len(directory.all()) == 10_000
    os.replace(draft, path)

    looks = 0
    async with asyncio.timeout(30):
        while len(directory.all()) == 10_000:
            assert directory.get("tenant-9999")
            looks += 1
            await asyncio.sleep(0)
    assert looks, "who was there before is found while the change is read"
    assert directory.get("tenant-10000")


def test_somebody_new_in_a_large_file_is_found(path: Path) -> None:
    _write_many(path, 9_999)
    directory = TenantDirectory(path=path, recheck_s=60)
    assert directory.by_api_key("9999") is None
    _write_many(path, 10_000)
    found = directory.by_api_key("9999")
    assert found is not None
    assert found.id == "tenant-9999"


def test_an_unknown_schema_is_refused_before_writing(path: Path) -> None:
    with pytest.raises(SchemaError, match="neither a shipped scenario"):
        add_tenant(path, "acme", schema="nowhere.json")
    assert not path.exists()


def test_adding_a_key_keeps_the_schema(path: Path) -> None:
    add_tenant(path, "acme", schema="companion")
    with pytest.raises(TenantsFileError, match="'companion', not 'meetings'"):
        add_tenant(path, "acme", schema="meetings")


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("{", "line 1: not JSON"),
        ('{"tenants": [{"schema": "companion"}]}', "tenants.0.id: Field required"),
        ('{"tenants": [{"id": "a", "schema": "companion", "key_hashes": ["secret"]}]}', "tenants.0.key_hashes.0"),
        ('{"tenants": [{"id": "a", "schema": "companion", "weight": 0}]}', "tenants.0.weight"),
        ('{"tenants": [{"id": "a", "schema": "companion", "colour": 0}]}', "tenants.0.colour"),
        ('{"tenants": [{"id": "a", "schema": "companion"}, {"id": "a", "schema": "companion"}]}', "tenant 'a' is there twice"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(tmp_path: Path, content: str, word: str) -> None:
    path = tmp_path / "tenants.json"
    path.write_text(content)
    with pytest.raises(TenantsFileError, match=word):
        TenantDirectory(path=path)


def test_a_missing_file_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(TenantsFileError, match="varve tenants add"):
        TenantDirectory(path=tmp_path / "tenants.json")


def test_writers_at_once_lose_nobody(path: Path) -> None:
    path.parent.mkdir()
    names = [f"tenant-{number}" for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda name: add_tenant(path, name, schema="companion"), names))
    directory = TenantDirectory(path=path)
    found = [directory.by_api_key(key) for key in keys]
    assert [tenant.id for tenant in found if tenant] == names


def test_an_operators_key_is_no_tenants(path: Path) -> None:
    tenants_key = add_tenant(path, "acme", schema="companion")
    key = add_admin_key(path)
    directory = TenantDirectory(path=path)
    assert directory.is_admin_key(key)
    assert not directory.is_admin_key(tenants_key)
    assert directory.by_api_key(key) is None
    assert key not in path.read_text()
    add_tenant(path, "umbrella", schema="companion")
    assert directory.is_admin_key(key), "adding a tenant keeps the operators' keys"


def test_a_generation_has_its_own_schema(path: Path) -> None:
    add_tenant(path, "acme", schema="companion")
    add_generation(path, "acme", "v2", schema="meetings")
    add_generation(path, "acme", "v3")
    directory = TenantDirectory(path=path)
    assert [directory.get("acme").schema_of(name) for name in ("", "v2", "v3")] == ["companion", "meetings", "companion"]
    assert directory.schema_of("acme").name == "companion"
    assert directory.schema_of("acme", "v2").name == "meetings"
    assert set_generation(path, "acme", "v2") == ""
    assert directory.schema_of("acme").name == "meetings"
    assert directory.schema_of("acme", "").name == "companion"
    assert directory.schema_of("acme", "gone").name == "companion"
    assert set_generation(path, "acme", "") == "v2"
    with pytest.raises(TenantsFileError, match="not among its generations"):
        set_generation(path, "acme", "v9")
    with pytest.raises(UnknownTenantError, match="umbrella"):
        set_generation(path, "umbrella", "v2")
    for name, problem in (("v2", "already"), ("", "already"), ("-", "name"), ("a/b", "name")):
        with pytest.raises(TenantsFileError, match=problem):
            add_generation(path, "acme", name)
    with pytest.raises(SchemaError):
        add_generation(path, "acme", "v4", schema="no-such-schema")


def test_a_tenants_budget_survives_rewriting_the_file(path: Path) -> None:
    add_tenant(path, "acme", schema="companion")
    fields = orjson.loads(path.read_bytes())
    fields["tenants"][0]["budget"] = {"hard_tokens": None, "soft_tokens": 5}
    path.write_bytes(orjson.dumps(fields))
    add_generation(path, "acme", "v2")
    add_tenant(path, "acme", schema="companion")
    default = BudgetSettings(hard_tokens=100, hard_cost=2.5)

    budget = default.but(TenantDirectory(path=path).get("acme").budget)

    assert (budget.hard_tokens, budget.soft_tokens, budget.hard_cost) == (None, 5, 2.5)
    assert default.but(BudgetSettings()) == default
