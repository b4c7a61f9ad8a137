"""Memory methods of tenants and generations: the composed schemas in the control log, without a log."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from control import ControlState, Draft
from control.errors import ChangeRefusedError
from control.schemas import resolve_method_schema
from control.tenant_changes import add_generation, add_tenant, set_generation, set_tenant
from control.tenants_file import TenantsFile, apply_file, export_file
from memory.schema import parse_schema, scenario, to_json
from memory.schema.methods import method_document
from tests.control_log import apply_change

NOW = datetime(2025, 1, 1, tzinfo=UTC)
ARCHIVE: dict[str, Any] = {"Method": "archive", "Archive": {"Turns": True}}


def live(state: ControlState, tenant: str = "acme") -> str:
    return str(state.tenants[tenant].live_schema)


def apply(state: ControlState, tenants: list[dict[str, Any]], folder: Path | None = None) -> None:
    file = TenantsFile.model_validate({"tenants": tenants})
    apply_change(state, lambda draft: apply_file(draft, file, folder=folder, now=NOW, prune=False))


def test_a_method_composes_with_the_tenants_schema(state: ControlState) -> None:
    apply_change(state, lambda draft: set_tenant(draft, "acme", method="memgpt"))
    assert live(state) == "companion+memgpt@1"
    document = Draft(state).schema(state.tenants["acme"].live_schema)
    assert document is not None
    assert parse_schema(document.content).method is not None, "the log holds the whole document"
    assert Draft(state).method_of(document.ref) == "memgpt"


def test_the_next_method_starts_from_the_base(state: ControlState) -> None:
    apply_change(state, lambda draft: set_tenant(draft, "acme", method="memgpt"))
    apply_change(state, lambda draft: set_tenant(draft, "acme", method=ARCHIVE))
    assert live(state) == "companion+archive@1"
    assert [str(each.schema_ref) for each in state.tenants["acme"].former_schemas] == ["companion+memgpt@1", "companion@1"]
    apply_change(state, lambda draft: set_tenant(draft, "acme", method="vikingmem"))
    assert live(state) == "companion@1"
    assert Draft(state).method_of(state.tenants["acme"].live_schema) == "vikingmem"


def test_an_equal_document_is_written_once(state: ControlState) -> None:
    apply_change(state, lambda draft: set_tenant(draft, "acme", method=ARCHIVE))
    apply_change(state, lambda draft: add_tenant(draft, "umbrella", schema="companion", method=ARCHIVE))
    assert live(state, "umbrella") == "companion+archive@1"
    changed = {**ARCHIVE, "Extract": {"Segments": True}}
    apply_change(state, lambda draft: set_tenant(draft, "umbrella", method=changed))
    assert (live(state), live(state, "umbrella")) == ("companion+archive@1", "companion+archive@2")


def test_two_methods_run_as_generations(state: ControlState) -> None:
    apply_change(state, lambda draft: add_generation(draft, "acme", "tried", method="memochat"))
    tenant = state.tenants["acme"]
    assert (str(tenant.schema_of("")), str(tenant.schema_of("tried"))) == ("companion@1", "companion+memochat@1")
    apply_change(state, lambda draft: set_generation(draft, "acme", "tried"))
    apply_change(state, lambda draft: set_tenant(draft, "acme", method="memgpt"))
    tenant = state.tenants["acme"]
    assert (str(tenant.schema_of("")), str(tenant.schema_of("tried"))) == ("companion@1", "companion+memgpt@1")


def test_a_chosen_revision_is_the_base(state: ControlState) -> None:
    notes = {"Name": "notes", "EventTypes": [{"EventType": "note", "Description": "A note."}]}
    apply_change(state, lambda draft: draft.put_schema(parse_schema(notes)))
    apply_change(state, lambda draft: draft.put_schema(parse_schema({**notes, "Description": "Longer."})))
    apply_change(state, lambda draft: set_tenant(draft, "acme", schema="notes@1", method=ARCHIVE))
    document = Draft(state).schema(state.tenants["acme"].live_schema)
    assert document is not None
    assert parse_schema(document.content).description == ""


def test_a_schema_from_a_file_is_kept_without_method(state: ControlState) -> None:
    own = parse_schema({**to_json(scenario("meetings")), "Name": "own"})
    apply_change(state, lambda draft: set_tenant(draft, "acme", schema=own, method=ARCHIVE))
    assert live(state) == "own+archive@1"
    apply_change(state, lambda draft: set_tenant(draft, "acme", method="vikingmem"))
    assert live(state) == "own@1"


def test_an_owners_schema_composes_for_the_owner_only(state: ControlState) -> None:
    own = parse_schema({**to_json(scenario("meetings")), "Name": "own"})
    apply_change(state, lambda draft: draft.put_schema(own, owner="acme"))
    apply_change(state, lambda draft: set_tenant(draft, "acme", schema="own", method=ARCHIVE))
    apply_change(state, lambda draft: add_tenant(draft, "umbrella", schema="companion"))
    with pytest.raises(ChangeRefusedError, match=r"there is no schema own\+archive@1"):
        apply_change(state, lambda draft: set_tenant(draft, "umbrella", schema="own+archive@1"))
    with pytest.raises(ChangeRefusedError, match="there is no schema own@1"):
        apply_change(state, lambda draft: set_tenant(draft, "umbrella", schema="own"))
    with pytest.raises(ChangeRefusedError, match=r"there is no schema own\+archive@1"):
        apply_change(state, lambda draft: set_tenant(draft, "umbrella", schema="own", method=ARCHIVE))


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        ("memgtp", "did you mean 'memgpt'"),
        ({**ARCHIVE, "Archive": {"Turn": True}}, r"Method\.Archive\.Turn.*did you mean 'Turns'"),
        ({**ARCHIVE, "Manage": {"EntityTypes": [{"EntityType": "x"}]}}, r"Method\.Manage\.EntityTypes\[0\]\.Properties"),
    ],
)
def test_a_wrong_method_is_refused_with_its_path(state: ControlState, method: Any, problem: str) -> None:
    with pytest.raises(ChangeRefusedError, match=problem):
        apply_change(state, lambda draft: set_tenant(draft, "acme", method=method))
    assert live(state) == "companion@1"


def test_a_handwritten_schema_keeps_its_method(state: ControlState) -> None:
    own = parse_schema({"Name": "own", "EventTypes": [{"EventType": "note", "Description": "A note."}], "Method": ARCHIVE})
    apply_change(state, lambda draft: set_tenant(draft, "acme", schema=own))
    assert Draft(state).method_of(state.tenants["acme"].live_schema) == "archive"
    with pytest.raises(ChangeRefusedError, match="contains the method 'archive' in its file"):
        apply_change(state, lambda draft: set_tenant(draft, "acme", method="memgpt"))


def test_a_field_that_cannot_continue_is_refused(state: ControlState) -> None:
    counting: dict[str, Any] = {
        "EntityType": "talk",
        "Description": "How much was said.",
        "Properties": [
            {"PropertyName": "turns", "PropertyValueType": "int64", "AggregateExpression": {"Op": "COUNT", "EventType": "turn"}}
        ],
    }
    listing: dict[str, Any] = {
        **counting,
        "Properties": [
            {
                "PropertyName": "turns",
                "PropertyValueType": "list<string>",
                "AggregateExpression": {"Op": "LIST", "EventType": "turn", "EventPropertyName": "content"},
            }
        ],
    }
    apply_change(state, lambda draft: set_tenant(draft, "acme", method={**ARCHIVE, "Manage": {"EntityTypes": [counting]}}))
    other = {**ARCHIVE, "Method": "other", "Manage": {"EntityTypes": [listing]}}
    with pytest.raises(ChangeRefusedError, match="build a new generation"):
        apply_change(state, lambda draft: set_tenant(draft, "acme", method=other))
    apply_change(state, lambda draft: add_generation(draft, "acme", "next", method=other))
    assert str(state.tenants["acme"].schema_of("next")) == "companion+other@1"


def test_a_tenants_file_names_methods(state: ControlState, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_bytes(orjson.dumps(ARCHIVE))
    wanted: list[dict[str, Any]] = [
        {"id": "acme", "schema": "companion", "method": "memgpt"},
        {
            "id": "filed",
            "schema": "meetings",
            "method": "own.json",
            "generations": [{"name": "g", "schema": "meetings", "method": "memochat"}],
        },
    ]
    apply(state, wanted, tmp_path)
    assert (live(state), live(state, "filed")) == ("companion+memgpt@1", "meetings+archive@1")
    assert str(state.tenants["filed"].schema_of("g")) == "meetings+memochat@1"
    before = dict(state.tenants)
    exported = export_file(state)["tenants"]
    apply(state, exported)
    assert state.tenants == before, "an exported file changes nothing"


def test_an_exported_file_fills_a_new_log(state: ControlState) -> None:
    apply_change(state, lambda draft: set_tenant(draft, "acme", method="memgpt"))
    copied = ControlState()
    file = TenantsFile.model_validate(export_file(state, with_schemas=True))
    apply_change(copied, lambda draft: apply_file(draft, file, folder=None, now=NOW, prune=True))
    assert live(copied) == "companion+memgpt@1"
    apply_change(copied, lambda draft: set_tenant(draft, "acme", method="vikingmem"))
    assert live(copied) == "companion@1"


def test_a_missing_method_file_is_named(state: ControlState, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"Method": "bad", "Store": {"Kinds": ["graph"]}}')
    with pytest.raises(ChangeRefusedError, match=r"Method\.Store\.Kinds\[0\].*bad\.json"):
        apply(state, [{"id": "acme", "schema": "companion", "method": "bad.json"}], tmp_path)


def test_no_method_leaves_the_schema_as_named(state: ControlState) -> None:
    draft = Draft(state)
    assert resolve_method_schema(draft, "companion", None) == state.tenants["acme"].live_schema
    assert not draft.changes()
    assert method_document("vikingmem")["Method"] == "vikingmem"
