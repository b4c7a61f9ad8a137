"""The changes to the control log, without a log."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from control import ControlState, Draft
from control.access_keys import hash_key
from control.differences import difference_lines
from control.documents import Drops, SchemaRef, Tenant
from control.errors import ChangedMeanwhileError, ChangeRefusedError, TenantsFileError, UnknownTenantError
from control.key_changes import add_key, add_operator_key, revoke_key, revoke_operator_key, rotate_key
from control.schemas import resolve_schema
from control.tenant_changes import add_generation, add_tenant, change_signing, count_drop, remove_tenant, set_generation, set_tenant
from control.tenants_file import TenantsFile, apply_file, export_file, read_tenants_file
from memory.schema import MemorySchema, parse_schema, scenario, to_json
from tests.control_log import apply_change

NOW = datetime(2025, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
NOTES = parse_schema({"Name": "notes", "EventTypes": [{"EventType": "note", "Description": "A note."}]})
LONGER_NOTES = parse_schema({**to_json(NOTES), "Description": "Longer."})


def test_a_document_survives_its_bytes(state: ControlState) -> None:
    apply_change(state, lambda draft: set_tenant(draft, "acme", budget={"hard_tokens": None, "policy": "offline"}, weight=2.0))
    tenant = state.tenants["acme"]
    assert Tenant.from_json(tenant.to_json()) == tenant
    assert orjson.loads(tenant.to_json())["budget"] == {"hard_tokens": None, "policy": "offline"}, "null lifts a limit"
    assert Tenant.from_json(tenant.to_json()).budget.model_fields_set == {"hard_tokens", "policy"}


def test_a_change_for_an_earlier_revision_is_refused(state: ControlState) -> None:
    read = state.tenants["acme"].revision
    apply_change(state, lambda draft: set_tenant(draft, "acme", expected={read}, quota={"memories": 7}))
    with pytest.raises(ChangedMeanwhileError, match=f"its revision is {read + 1}, and the change is for {read}"):
        apply_change(state, lambda draft: set_tenant(draft, "acme", expected={read}, quota={}))
    assert state.tenants["acme"].quota.memories == 7
    apply_change(state, lambda draft: remove_tenant(draft, "acme"))
    apply_change(state, lambda draft: add_tenant(draft, "acme", schema="companion"))
    with pytest.raises(ChangedMeanwhileError):
        apply_change(state, lambda draft: set_tenant(draft, "acme", expected={read + 1}, weight=2.0))


def test_unknown_fields_of_a_newer_version_are_kept(state: ControlState) -> None:
    newer = orjson.dumps(orjson.loads(state.tenants["acme"].to_json()) | {"schema_version": "1.7", "colour": "red"})
    state.take(state.tenants["acme"].key, newer, offset=9)
    apply_change(state, lambda draft: set_tenant(draft, "acme", weight=3.0))
    assert orjson.loads(state.tenants["acme"].to_json())["colour"] == "red"


def test_a_schema_of_a_tenant_keeps_its_owner(state: ControlState) -> None:
    apply_change(state, lambda draft: add_tenant(draft, "umbrella", schema="companion"))
    own = apply_change(state, lambda draft: draft.put_schema(NOTES, owner="acme"))
    assert apply_change(state, lambda draft: draft.put_schema(LONGER_NOTES)) == SchemaRef(name="notes", revision=2)
    assert {each.owner for each in state.schemas.values() if each.name == "notes"} == {"acme"}, "a name's revisions have one owner"
    for change in (
        lambda draft: set_tenant(draft, "umbrella", schema=str(own)),
        lambda draft: set_tenant(draft, "umbrella", schema=LONGER_NOTES),
        lambda draft: add_generation(draft, "umbrella", "v2", schema="notes"),
        lambda draft: draft.put_schema(NOTES, owner="umbrella"),
        lambda draft: draft.put_schema(scenario("meetings"), owner="acme"),
    ):
        with pytest.raises(ChangeRefusedError):
            apply_change(state, change)
    with pytest.raises(UnknownTenantError):
        apply_change(state, lambda draft: draft.put_schema(NOTES, owner="nobody"))
    assert apply_change(state, lambda draft: set_tenant(draft, "acme", schema="notes")).schema_ref.revision == 2


def test_a_revision_counts_changes_and_nothing_else(state: ControlState) -> None:
    assert state.tenants["acme"].revision == 1
    draft = Draft(state)
    set_tenant(draft, "acme", weight=1.0)
    assert draft.changes() == []
    apply_change(state, lambda draft: set_tenant(draft, "acme", weight=2.0))
    assert state.tenants["acme"].revision == 2


def test_a_limit_set_to_its_default_is_a_change(state: ControlState) -> None:
    """The installation's settings may have another value, which it replaces."""
    for quota, line in (
        ({"memories": None}, "tenant/acme quota.memories: - -> null"),
        ({"memories": 9}, "tenant/acme quota.memories: null -> 9"),
        ({}, "tenant/acme quota.memories: 9 -> -"),
    ):
        for expected in ([line], []):
            draft = Draft(state)
            set_tenant(draft, "acme", quota=quota)
            assert list(difference_lines(draft.changes())) == expected
            state.put(each.after for each in draft.changes())


def test_a_repeated_retirement_keeps_its_time(state: ControlState) -> None:
    """Messages of the retired key that were refused stay refused."""
    apply_change(state, lambda draft: change_signing(draft, "acme", now=NOW, add="k"))
    apply_change(state, lambda draft: change_signing(draft, "acme", now=NOW, retire="k"))
    policy = apply_change(state, lambda draft: change_signing(draft, "acme", now=LATER, retire="k"))
    assert [each.until for each in policy.keys] == [NOW]


def test_a_change_leaves_the_state_it_starts_from(state: ControlState) -> None:
    before = state.tenants["acme"]
    draft = Draft(state)
    add_key(draft, "acme", hash_key("k"), now=NOW)
    assert draft.tenant("acme").keys
    assert state.tenants["acme"] is before
    assert state.holder_of(hash_key("k")) is None


def test_schemas_are_revisions_and_tenants_stay_at_theirs(state: ControlState) -> None:
    first = apply_change(state, lambda draft: draft.put_schema(NOTES))
    again = apply_change(state, lambda draft: draft.put_schema(NOTES))
    apply_change(state, lambda draft: add_tenant(draft, "notes", schema="notes"))
    second = apply_change(state, lambda draft: draft.put_schema(LONGER_NOTES))
    assert (str(first), str(again), str(second)) == ("notes@1", "notes@1", "notes@2")
    assert str(state.tenants["notes"].schema_ref) == "notes@1"
    assert str(resolve_schema(Draft(state), "notes")) == "notes@2"
    assert str(resolve_schema(Draft(state), "notes@1")) == "notes@1"
    assert state.schemas[second].content != state.schemas[first].content


def test_a_schema_for_an_earlier_revision_is_refused(state: ControlState) -> None:
    longest = replace(LONGER_NOTES, description="The longest.")
    apply_change(state, lambda draft: draft.put_schema(NOTES, expected={0}))
    apply_change(state, lambda draft: draft.put_schema(LONGER_NOTES, expected={1}))
    for earlier in ({0}, {1}, set[int]()):
        with pytest.raises(ChangedMeanwhileError, match="its newest revision is notes@2, and the change is for"):
            Draft(state).put_schema(longest, expected=earlier)
    repeated = apply_change(state, lambda draft: draft.put_schema(LONGER_NOTES, expected={1}))
    assert str(repeated) == "notes@2", "the response to the first request was lost"
    with pytest.raises(ChangedMeanwhileError, match="is none"):
        apply_change(state, lambda draft: draft.put_schema(replace(NOTES, name="other"), expected={1}))


@pytest.mark.parametrize(
    "named",
    ["nothing", "companion@2", "companion@0", "companion@x", "notes@1", "@1", f"{'x' * 257}@1", f"notes@{'9' * 5000}"],
    ids=lambda named: named[:12],
)
def test_an_unknown_schema_is_refused(state: ControlState, named: str) -> None:
    with pytest.raises(ChangeRefusedError, match="there is no schema"):
        apply_change(state, lambda draft: set_tenant(draft, "acme", schema=named))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda draft: add_tenant(draft, "acme", schema="companion"), "already"),
        (lambda draft: add_tenant(draft, "acme\u200b", schema="companion"), "U\\+200B, which is invisible"),
        (lambda draft: add_tenant(draft, "acme ", schema="companion"), "begins or ends with a space"),
        (lambda draft: add_tenant(draft, "acme\u0301", schema="companion"), "composed form"),
        (lambda draft: set_tenant(draft, "acme", weight=0), "weight: .* greater than or equal to 0.001"),
        (lambda draft: set_tenant(draft, "acme", weight=5e-324), "weight: .* greater than or equal to 0.001"),
        (lambda draft: set_tenant(draft, "acme", weight=float("nan")), "weight: .* finite number"),
        (lambda draft: set_tenant(draft, "acme", weight=float("inf")), "weight: .* finite number"),
        (lambda draft: add_tenant(draft, "new", schema="companion", weight=float("-inf")), "weight: .* finite number"),
        (lambda draft: set_tenant(draft, "acme", budget={"hard_token": 1}), "budget.hard_token: unknown name"),
        (lambda draft: set_tenant(draft, "acme", schema_ref={"name": "companion", "revision": 9}), "no schema companion@9"),
        (lambda draft: set_generation(draft, "acme", "v9"), "tenant acme has no generation v9: `varve generations list acme`"),
        (lambda draft: add_generation(draft, "acme", "no/name"), "name: String should match"),
        (lambda draft: count_drop(draft, "acme", ""), "is live"),
        (lambda draft: count_drop(draft, "acme", "v9"), "tenant acme has no generation v9: `varve generations list acme`"),
        (lambda draft: revoke_key(draft, "acme", "nokey"), "has no key nokey"),
        (lambda draft: revoke_operator_key(draft, "nokey"), "no operator's key nokey"),
        (lambda draft: add_key(draft, "acme", "0" * 64, now=NOW, expires=NOW), "cannot expire"),
        (lambda draft: add_key(draft, "acme", "short", now=NOW), "hash: String should match"),
        (lambda draft: add_key(draft, "acme", "0" * 64, now=NOW, label="a\x1bb"), "label: String should match"),
        (lambda draft: add_key(draft, "acme", "0" * 64, now=NOW, scopes=()), "scopes: Tuple should have at least 1"),
    ],
)
def test_invalid_changes_are_refused_with_the_reason(state: ControlState, change: object, problem: str) -> None:
    assert callable(change)
    with pytest.raises(ChangeRefusedError, match=problem):
        apply_change(state, change)


def test_an_unknown_tenant_cannot_be_changed(state: ControlState) -> None:
    with pytest.raises(UnknownTenantError, match="varve tenants list"):
        apply_change(state, lambda draft: set_tenant(draft, "umbrella", weight=2.0))


def test_two_holders_of_one_key_are_refused(state: ControlState) -> None:
    apply_change(state, lambda draft: add_tenant(draft, "umbrella", schema="companion"))
    apply_change(state, lambda draft: add_key(draft, "acme", hash_key("k"), now=NOW))
    with pytest.raises(ChangeRefusedError, match="another tenant"):
        apply_change(state, lambda draft: add_key(draft, "umbrella", hash_key("k"), now=NOW))
    with pytest.raises(ChangeRefusedError, match="same id"):
        apply_change(state, lambda draft: add_key(draft, "acme", hash_key("k"), now=NOW))
    apply_change(state, lambda draft: add_operator_key(draft, hash_key("o"), now=NOW))
    with pytest.raises(ChangeRefusedError, match="belongs to an operator"):
        apply_change(state, lambda draft: add_key(draft, "umbrella", hash_key("o"), now=NOW))

    def handed_over(draft: Draft) -> None:
        revoke_key(draft, "acme", hash_key("k")[:12])
        add_key(draft, "umbrella", hash_key("k"), now=NOW)

    apply_change(state, handed_over)
    holder = state.holder_of(hash_key("k"))
    assert holder is not None
    assert holder[0].id == "umbrella"


def test_a_rotated_key_is_valid_during_the_overlap(state: ControlState) -> None:
    old = apply_change(state, lambda draft: add_key(draft, "acme", hash_key("old"), now=NOW, label="app", scopes=("recall",), user="ann"))
    new = apply_change(state, lambda draft: rotate_key(draft, "acme", old.id, hash_key("new"), now=NOW, overlap=timedelta(hours=1)))
    kept, added = state.tenants["acme"].keys
    assert added == new
    assert (new.label, new.scopes, new.user, new.expires) == ("app", ("recall",), "ann", None)
    assert kept.expires == NOW + timedelta(hours=1)
    assert (kept.is_expired(NOW), kept.is_expired(LATER)) == (False, True)
    with pytest.raises(ChangeRefusedError, match="has expired"):
        apply_change(state, lambda draft: rotate_key(draft, "acme", old.id, hash_key("x"), now=LATER, overlap=timedelta()))
    apply_change(state, lambda draft: rotate_key(draft, "acme", new.id, hash_key("third"), now=LATER, overlap=timedelta()))
    assert [each.hash for each in state.tenants["acme"].keys] == [hash_key("third")], "what has expired goes"


def test_a_removed_tenant_keeps_its_drops(state: ControlState) -> None:
    apply_change(state, lambda draft: add_generation(draft, "acme", "v2"))
    apply_change(state, lambda draft: set_generation(draft, "acme", "v2"))
    apply_change(state, lambda draft: count_drop(draft, "acme", ""))
    apply_change(state, lambda draft: add_key(draft, "acme", hash_key("k"), now=NOW))
    apply_change(state, lambda draft: remove_tenant(draft, "acme"))
    assert state.holder_of(hash_key("k")) is None
    with pytest.raises(UnknownTenantError):
        Draft(state).tenant("acme")
    apply_change(state, lambda draft: add_tenant(draft, "acme", schema="meetings"))
    again = state.tenants["acme"]
    assert (again.generation, again.generations, again.keys, again.drops_of("")) == ("", (), (), 1)


NAMES_OF_BROKEN_RECORDS = ("", "\ud800", "a/b")


def test_an_unreadable_record_admits_no_request(state: ControlState) -> None:
    apply_change(state, lambda draft: add_key(draft, "acme", hash_key("k"), now=NOW))
    good = state.tenants["acme"]
    for broken in (
        b"{",
        None,
        good.to_json().replace(b'"schema_version":"1.0"', b'"schema_version":"2.0"'),
        good.to_json()[:-1] + b',"id":"b"}',
    ):
        state.take(good.key, broken, offset=5)
        assert state.holder_of(hash_key("k")) is None
        assert state.is_unreadable("acme")
        assert not any(map(state.is_unreadable, NAMES_OF_BROKEN_RECORDS))
        with pytest.raises(ChangeRefusedError, match="newer version of Varve"):
            Draft(state).tenant("acme")
        state.take(good.key, good.to_json(), offset=6)
        assert state.holder_of(hash_key("k")) is not None
        assert not state.is_unreadable("acme")


def test_damage_counts_from_its_first_record(state: ControlState, monkeypatch: pytest.MonkeyPatch) -> None:
    good, seconds = state.tenants["acme"], iter((10.0, 20.0, 30.0))
    monkeypatch.setattr("control.state.time.monotonic", lambda: next(seconds))
    state.take(good.key, b"{", offset=5)
    state.take(good.key, b"[", offset=6)
    assert state.unreadable_since == {good.key: 10.0}
    state.take(good.key, good.to_json(), offset=7)
    state.take(good.key, b"{", offset=8)
    assert state.unreadable_since[good.key] > 10.0


def test_foreign_keys_in_the_log_are_ignored(state: ControlState) -> None:
    good = state.tenants["acme"]
    for key in (None, b"", b"\xff", b"colour/red", b"schema/companion/one", b"tenant", b"tenant/a/b"):
        state.take(key, good.to_json(), offset=7)
    assert state.tenants == {"acme": good}
    assert state.position == 8


FILE = """
tenants:
  - id: acme
    schema: notes.json
    weight: 2
    budget: {hard_tokens: null}
    keys:
      - {hash: HASH, label: app, scopes: [recall], user: ann}
  - {id: umbrella, schema: companion, generations: [{name: v2, schema: meetings}], generation: v2}
operators:
  - {hash: OPERATOR, role: viewer}
"""


@pytest.fixture
def file(tmp_path: Path) -> TenantsFile:
    (tmp_path / "notes.json").write_bytes(orjson.dumps(to_json(NOTES)))
    path = tmp_path / "tenants.yaml"
    path.write_text(FILE.replace("HASH", hash_key("k")).replace("OPERATOR", hash_key("o")))
    return read_tenants_file(path)


def test_a_file_is_applied_once_and_exported_again(tmp_path: Path, file: TenantsFile) -> None:
    state = ControlState()
    apply_change(state, lambda draft: add_tenant(draft, "gone", schema="companion"))
    apply_change(state, lambda draft: apply_file(draft, file, folder=tmp_path, now=NOW, prune=True))
    assert {tenant.id: tenant.state for tenant in state.tenants.values()} == {"gone": "removed", "acme": "active", "umbrella": "active"}
    assert str(state.tenants["acme"].schema_ref) == "notes@1"
    assert state.tenants["acme"].keys[0].user == "ann"
    assert state.tenants["umbrella"].schema_of("v2") == SchemaRef(name="meetings", revision=1)
    assert [each.role for each in state.operators.keys] == ["viewer"]

    again = Draft(state)
    apply_file(again, file, folder=tmp_path, now=LATER, prune=True)
    assert again.changes() == []

    exported = TenantsFile.model_validate(orjson.loads(orjson.dumps(export_file(state))))
    back = Draft(state)
    apply_file(back, exported, folder=tmp_path / "elsewhere", now=LATER, prune=True)
    assert back.changes() == []


def test_an_old_export_overwrites_no_later_change(tmp_path: Path, file: TenantsFile) -> None:
    state = ControlState()
    apply_change(state, lambda draft: apply_file(draft, file, folder=tmp_path, now=NOW, prune=True))
    content = orjson.loads(orjson.dumps(export_file(state)))
    old = TenantsFile.model_validate(content)
    apply_change(state, lambda draft: set_tenant(draft, "acme", weight=9.0))
    apply_change(state, lambda draft: add_operator_key(draft, hash_key("new"), now=NOW))
    with pytest.raises(ChangedMeanwhileError, match=r"tenant/acme \(revision 1 in the file, 2 now\), operators \(revision 1 .*, 2 now\)"):
        apply_change(state, lambda draft: apply_file(draft, old, folder=None, now=LATER, prune=False))
    apply_change(state, lambda draft: remove_tenant(draft, "umbrella"))
    with pytest.raises(ChangedMeanwhileError, match="tenant/umbrella"):
        apply_file(
            Draft(state), old.model_copy(update={"tenants": old.tenants[1:], "operators": None}), folder=None, now=LATER, prune=False
        )

    for wins in (
        partial(apply_file, file=old, force=True),
        partial(apply_file, file=TenantsFile.model_validate(_without_revisions(content))),
    ):
        draft = Draft(state)
        wins(draft, folder=None, now=LATER, prune=False)
        assert {each.after.key for each in draft.changes()} == {b"tenant/acme", b"tenant/umbrella", b"operators"}
    fresh = TenantsFile.model_validate(export_file(state) | {"operators": []})
    apply_change(state, lambda draft: apply_file(draft, fresh, folder=None, now=LATER, prune=False))
    assert state.operators.keys == ()


def _without_revisions(exported: dict[str, Any]) -> dict[str, Any]:
    tenants = [{name: value for name, value in each.items() if name != "revision"} for each in exported["tenants"]]
    return {**{name: value for name, value in exported.items() if name != "operators_revision"}, "tenants": tenants}


def test_unlisted_tenants_stay_without_prune(tmp_path: Path, file: TenantsFile) -> None:
    state = ControlState()
    apply_change(state, lambda draft: add_tenant(draft, "unlisted", schema="companion"))
    apply_change(state, lambda draft: apply_file(draft, file, folder=tmp_path, now=NOW, prune=False))
    assert {tenant.id: tenant.state for tenant in state.tenants.values()} == dict.fromkeys(("unlisted", "acme", "umbrella"), "active")


def test_a_new_log_imports_a_file_with_schemas(tmp_path: Path, file: TenantsFile) -> None:
    state = ControlState()
    apply_change(state, lambda draft: apply_file(draft, file, folder=tmp_path, now=NOW, prune=True))
    apply_change(state, lambda draft: set_tenant(draft, "acme", schema=LONGER_NOTES))
    apply_change(state, lambda draft: set_tenant(draft, "acme", schema=NOTES))
    apply_change(state, lambda draft: draft.put_schema(replace(scenario("companion"), name="own"), owner="umbrella"))
    exported = orjson.loads(orjson.dumps(export_file(state, with_schemas=True)))
    with pytest.raises(ChangeRefusedError, match="there is no schema notes@3"):
        apply_file(Draft(ControlState()), TenantsFile.model_validate({**exported, "schemas": []}), folder=None, now=NOW, prune=True)

    restored = ControlState()
    for _ in range(2):
        apply_change(restored, lambda draft: apply_file(draft, TenantsFile.model_validate(exported), folder=None, now=NOW, prune=True))
    assert _without_revisions(export_file(restored, with_schemas=True)) == _without_revisions(exported)
    assert restored.newest_schemas == state.newest_schemas, "what records name is found under the same number"
    assert "schemas" not in export_file(state)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"name": "companion", "revision": 3, "content": to_json(scenario("companion"))}, "companion@3 is companion@1"),
        ({"name": "notes", "revision": 2, "content": to_json(NOTES)}, "notes@2 is none"),
        ({"name": "companion", "revision": 1, "content": to_json(NOTES)}, "has a different schema companion@1"),
        ({"name": "notes", "revision": 1, "content": {"EventTypes": 3}}, "the schema notes@1: "),
    ],
)
def test_a_schema_that_does_not_fit_is_refused(state: ControlState, schema: dict[str, object], problem: str) -> None:
    file = TenantsFile.model_validate({"schemas": [schema], "tenants": []})
    with pytest.raises(ChangeRefusedError, match=problem):
        apply_file(Draft(state), file, folder=None, now=NOW, prune=True)


def test_fields_missing_in_a_file_keep_their_values(tmp_path: Path, state: ControlState) -> None:
    apply_change(state, lambda draft: add_key(draft, "acme", hash_key("k"), now=NOW))
    apply_change(state, lambda draft: add_generation(draft, "acme", "v2"))
    apply_change(state, lambda draft: set_generation(draft, "acme", "v2"))
    silent = TenantsFile.model_validate({"tenants": [{"id": "acme", "schema": "companion", "weight": 5}]})
    draft = Draft(state)
    apply_file(draft, silent, folder=tmp_path, now=NOW, prune=True)
    assert list(difference_lines(draft.changes())) == ["tenant/acme weight: 1.0 -> 5.0"]


def test_a_schema_is_set_from_the_extraction_position(state: ControlState) -> None:
    apply_change(state, lambda draft: add_generation(draft, "acme", "v1", schema="meetings"))
    apply_change(state, lambda draft: add_generation(draft, "acme", "v2", schema="education"))
    apply_change(state, lambda draft: set_generation(draft, "acme", "v2"))
    apply_change(state, lambda draft: set_tenant(draft, "acme", schema="companion"))
    acme = state.tenants["acme"]
    assert [acme.schema_of(each).name for each in ("", "v1", "v2")] == ["companion", "meetings", "companion"]
    assert acme.live_schema.name == "companion"

    apply_change(state, lambda draft: set_generation(draft, "acme", ""))
    apply_change(state, lambda draft: set_tenant(draft, "acme", schema="search_recommendation"))
    acme = state.tenants["acme"]
    assert [acme.schema_of(each).name for each in ("", "v1", "v2")] == ["search_recommendation", "meetings", "companion"]


def test_a_file_cannot_change_the_live_schema(tmp_path: Path, state: ControlState) -> None:
    apply_change(state, lambda draft: add_generation(draft, "acme", "v2"))
    apply_change(state, lambda draft: set_generation(draft, "acme", "v2"))
    vague = TenantsFile.model_validate({"tenants": [{"id": "acme", "schema": "meetings"}]})
    with pytest.raises(ChangeRefusedError, match=r"for the first generation, but 'v2' is live: .* `varve export`"):
        apply_file(Draft(state), vague, folder=tmp_path, now=NOW, prune=True)
    generations = [{"name": "v2", "schema": "education"}]
    for exact in ({"generations": generations}, {"generation": ""}):
        draft = Draft(state)
        wanted = {"tenants": [{"id": "acme", "schema": "meetings", **exact}]}
        apply_file(draft, TenantsFile.model_validate(wanted), folder=tmp_path, now=NOW, prune=True)
        assert draft.tenant("acme").schema_ref.name == "meetings"


def test_a_json_file_fills_an_empty_log(tmp_path: Path) -> None:
    content = {
        "tenants": [
            {
                "id": "acme",
                "schema": "companion",
                "keys": [{"hash": hash_key("k")}],
                "weight": 1.5,
                "budget": {"hard_tokens": 5},
                "generation": "v2",
                "generations": [{"name": "v2", "schema": "meetings"}],
                "drops": [{"generation": "", "count": 3}],
            }
        ],
        "operators": [{"hash": hash_key("o")}],
    }
    path = tmp_path / "tenants.json"
    path.write_bytes(orjson.dumps(content))
    state = ControlState()
    apply_change(state, lambda draft: apply_file(draft, read_tenants_file(path), folder=tmp_path, now=NOW, prune=True))
    acme = state.tenants["acme"]
    assert (acme.weight, acme.budget.hard_tokens, acme.generation) == (1.5, 5, "v2")
    assert acme.drops == (Drops(generation="", count=3),)
    holder = state.holder_of(hash_key("k"))
    assert holder is not None
    assert holder[0] == acme
    assert [(each.hash, each.role) for each in state.operators.keys] == [(hash_key("o"), "admin")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tenants: [{id: a}]", "tenants.0.schema: Field required"),
        ("tenants: [{id: a, schema: companion, colour: red}]", "tenants.0.colour: unknown name"),
        ("tenants: [{id: a, schema: companion}, {id: a, schema: meetings}]", "'a' is duplicated"),
        ("tenants: [", "neither YAML nor JSON"),
        ("- 1", "names with values"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "tenants.yaml"
    path.write_text(text)
    with pytest.raises(TenantsFileError, match=problem):
        read_tenants_file(path)
    with pytest.raises(TenantsFileError, match="cannot be read"):
        read_tenants_file(tmp_path / "nowhere.yaml")


def test_a_difference_shows_no_hash(state: ControlState) -> None:
    draft = Draft(state)
    add_key(draft, "acme", hash_key("k"), now=NOW, label="app")
    lines = list(difference_lines(draft.changes()))
    assert any("app" in line for line in lines)
    assert not any(hash_key("k") in line for line in lines)


def test_a_difference_names_the_revision_of_a_schema(state: ControlState) -> None:
    for schema in (NOTES, LONGER_NOTES):
        draft = Draft(state)
        set_tenant(draft, "acme", schema=schema)
        lines = [line for line in difference_lines(draft.changes()) if line.startswith("tenant/")]
        state.put(each.after for each in draft.changes())
    assert lines == ["tenant/acme schema_ref.revision: 1 -> 2"]


def test_an_incompatible_field_needs_a_new_generation(state: ControlState) -> None:
    """A schema is compared with the one that the log has for the tenant."""

    def person(**job: object) -> MemorySchema:
        fields = [{"PropertyName": "job", "PropertyValueType": "string", **job}, {"PropertyName": "notes", "PropertyValueType": "string"}]
        event = {"EventType": "job", "Properties": [{"PropertyName": "name", "PropertyValueType": "string"}]}
        types = [{"EntityType": "person", "Keys": ["user"], "Properties": fields if job else fields[1:]}]
        return parse_schema({"Name": "people", "EventTypes": [event], "EntityTypes": types})

    latest = person(AggregateExpression={"Op": "LATEST", "EventType": "job", "EventPropertyName": "name"})
    patched = person(Description="Their job.")
    apply_change(state, lambda draft: add_tenant(draft, "people", schema=latest))
    with pytest.raises(ChangeRefusedError, match=r"from people@1 to people@2: the field job .* LATEST, .* PATCH.*NAME --tenant people"):
        apply_change(state, lambda draft: set_tenant(draft, "people", schema=patched))
    assert state.tenants["people"].schema_ref.revision == 1, "nothing is changed by halves"
    apply_change(state, lambda draft: set_tenant(draft, "people", schema=person()))
    with pytest.raises(ChangeRefusedError, match="job"):
        apply_change(state, lambda draft: set_tenant(draft, "people", schema=patched))
    apply_change(state, lambda draft: set_tenant(draft, "people", schema=latest))
    refused = apply_change(state, lambda draft: draft.put_schema(patched))
    apply_change(state, lambda draft: add_generation(draft, "people", "v2", schema=str(refused)))
    apply_change(state, lambda draft: set_generation(draft, "people", "v2"))
    assert state.tenants["people"].schema_of("v2") == refused
    apply_change(state, lambda draft: remove_tenant(draft, "people"))
    apply_change(state, lambda draft: add_tenant(draft, "people", schema=patched))


def people(name: str, *fields: str, events: str = "job") -> MemorySchema:
    """A schema that counts events in each field."""
    expression = {"Op": "COUNT", "EventType": events}
    made = [{"PropertyName": each, "PropertyValueType": "int64", "AggregateExpression": expression} for each in fields]
    types = [{"EntityType": "person", "Keys": ["user"], "Properties": made}]
    return parse_schema({"Name": name, "EventTypes": [{"EventType": each} for each in ("job", "trip")], "EntityTypes": types})


def test_a_count_keeps_its_event_type(state: ControlState) -> None:
    apply_change(state, lambda draft: add_tenant(draft, "people", schema=people("people", "jobs")))
    for schema in (people("people", "jobs", events="trip"), people("others", "jobs", events="trip")):
        with pytest.raises(ChangeRefusedError, match=r"the field jobs .* the type job, .* the type trip\. .* rename the field"):
            apply_change(state, lambda draft, schema=schema: set_tenant(draft, "people", schema=schema))  # type: ignore[misc]
    assert str(state.tenants["people"].live_schema) == "people@1"


def test_former_schemas_of_a_tenant_are_kept(state: ControlState) -> None:
    def put(schema: str | MemorySchema) -> list[str]:
        apply_change(state, lambda draft: set_tenant(draft, "people", schema=schema))
        return list(map(str, state.tenants["people"].schemas_of("")))

    apply_change(state, lambda draft: add_tenant(draft, "people", schema=people("people", "jobs")))
    assert put(people("people", "jobs", "more")) == ["people@2", "people@1"]
    assert state.tenants["people"].former_schemas == (), "earlier revisions need no entry"
    assert put(people("others", "other")) == ["others@1", "people@2", "people@1"]
    with pytest.raises(ChangeRefusedError, match="the field more"):
        put(people("others", "more", events="trip"))
    assert put(people("third", "other")) == ["third@1", "others@1", "people@2", "people@1"]
    assert put("people@1") == ["people@1", "third@1", "others@1", "people@2"]
    apply_change(state, lambda draft: add_generation(draft, "people", "v2"))
    assert list(map(str, state.tenants["people"].schemas_of("v2"))) == ["people@1"], "it has nothing of other schemas"

    exported = TenantsFile.model_validate(orjson.loads(orjson.dumps(export_file(state, with_schemas=True))))
    restored = ControlState()
    for target in (state, restored):
        apply_change(target, lambda draft: apply_file(draft, exported, folder=None, now=NOW, prune=True))
        assert list(map(str, target.tenants["people"].schemas_of(""))) == ["people@1", "third@1", "others@1", "people@2"]

    apply_change(state, lambda draft: remove_tenant(draft, "people"))
    apply_change(state, lambda draft: add_tenant(draft, "people", schema="meetings"))
    assert list(map(str, state.tenants["people"].schemas_of(""))) == ["meetings@1", "people@2", "people@1", "third@1", "others@1"]
