"""mem0's own unmodified client against a whole stack: ``make test-compat`` brings the package."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.own_clients import client_session
from varve.imports.files import ExportFile
from varve.imports.formats import FORMATS
from varve.imports.messages import ImportOptions

pytestmark = [pytest.mark.external, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of ``client_session.py``."""
    script = Path(__file__).with_name("client_session.py")
    return client_session(script, tmp_path_factory.mktemp("mem0"), setting="VARVE_MEM0__ENABLED", path="/mem0")


def contents(page: dict[str, Any]) -> set[str]:
    return {each["memory"] for each in page["results"]}


def test_added_messages_become_memories(seen: dict[str, Any]) -> None:
    assert seen["add"]["status"] == "PENDING"
    assert seen["add"]["event_id"]
    assert {"I moved to Bergen in March 2024.", "I have a cat called Pixel."} <= contents(seen["listed"])
    assert {"count", "next", "previous", "results"} <= seen["listed"].keys()
    assert all(each["user_id"] == "ann" and each["metadata"]["evidence"] for each in seen["listed"]["results"])


def test_other_ids_are_kept_and_filtered(seen: dict[str, Any]) -> None:
    assert [(each["memory"], each["user_id"], each["agent_id"]) for each in seen["bob"]["results"]] == [
        ("I play the cello on Sundays.", "bob", "coach")
    ]


def test_a_search_finds_the_right_memory_first(seen: dict[str, Any]) -> None:
    first = seen["searched"]["results"][0]
    assert first["memory"] == "I have a cat called Pixel."
    assert 0 < first["score"] <= 1
    assert "confidence" in first["metadata"]
    assert {each["user_id"] for each in seen["searched"]["results"]} == {"ann"}


def test_an_update_is_a_correction_with_history(seen: dict[str, Any]) -> None:
    assert seen["got"]["memory"] == "I have a cat called Pixel."
    assert seen["updated"]["memory"] == seen["after update"]["memory"] == "I have a cat called Pixie."
    assert [(each["event"], each["new_memory"]) for each in seen["history"]] == [
        ("ADD", "I have a cat called Pixel."),
        ("UPDATE", "I have a cat called Pixie."),
    ]


def test_texts_without_inference_stay_unchanged(seen: dict[str, Any]) -> None:
    assert contents(seen["unchanged"]) == {"ok", "What  time\nis it?"}
    assert {*map(tuple, (each["categories"] for each in seen["unchanged"]["results"]))} == {("fact",)}


def test_users_are_listed(seen: dict[str, Any]) -> None:
    found = {(each["type"], each["name"]) for each in seen["users"]["results"]}
    assert found == {("user", "ann"), ("user", "bob"), ("user", "dora")}


def test_the_documented_export_has_every_memory(seen: dict[str, Any], tmp_path: Path) -> None:
    exported = {each["memory"] for each in seen["exported"]}
    assert exported == {"I have a cat called Pixie.", "ok", "What  time\nis it?"} | contents(seen["listed"]) - {
        "I have a cat called Pixel."
    } | contents(seen["bob"])
    file = tmp_path / "mem0.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in seen["exported"]))
    messages = [each for each in FORMATS["mem0"].messages(ExportFile(file), ImportOptions()) if isinstance(each, dict)]
    assert {(each["user"], each["text"]) for each in messages} == {(each["user_id"], each["memory"]) for each in seen["exported"]}


def test_errors_equal_those_of_the_original_client(seen: dict[str, Any]) -> None:
    assert seen["unknown filter"].startswith("ValidationError: filters.colour")
    assert seen["unknown memory"].startswith("MemoryNotFoundError")
    assert all(each.startswith("ValidationError: memory_id: expected a UUID") for each in [*seen["no id"], seen["no id in a batch"]])
    assert seen["no owner"].startswith("ValidationError: one of user_id")
    assert seen["delete all without filter"].startswith("ValidationError: name what to delete")
    assert "Varve does not have POST /v1/summary/" in seen["unsupported"]


def test_the_project_is_the_tenant_and_has_no_instructions(seen: dict[str, Any]) -> None:
    assert seen["project"] == {"custom_instructions": None}
    assert seen["unknown field of the project"].startswith("ValidationError: fields: Varve has no colour")
    assert "Varve does not have PATCH /api/v1/orgs/organizations/dev/projects/dev/" in seen["update of the project"]


def test_deletions_delete_only_the_named_memories(seen: dict[str, Any]) -> None:
    assert seen["got after delete"].startswith("MemoryNotFoundError")
    assert not {"I have a cat called Pixie.", "I have a cat called Pixel."} & contents(seen["after delete"])
    assert seen["ann afterwards"]["count"] == 0
    assert contents(seen["bob afterwards"]) == {"I play the viola on Sundays."}


def test_the_asynchronous_client_gives_equal_results(seen: dict[str, Any]) -> None:
    assert contents(seen["asynchronous"]["searched"]) == contents(seen["asynchronous"]["listed"]) == {"I play the viola on Sundays."}


def test_the_self_hosted_api_reads_its_own_additions(seen: dict[str, Any]) -> None:
    rest = seen["self-hosted"]
    [listed] = rest["listed"]["results"]
    assert (listed["memory"], listed["user_id"], listed["run_id"]) == ("I have a parrot called Polly.", "eli", "r1")
    assert listed["metadata"]["evidence"] == [rest["added"]["event_id"]]
    assert [each["id"] for each in rest["searched"]["results"]] == [listed["id"]]


def test_the_self_hosted_api_shows_its_changes(seen: dict[str, Any]) -> None:
    rest = seen["self-hosted"]
    assert [rest["updated"][0], rest["updated"][1]["memory"]] == [
        {"message": "Memory updated successfully!"},
        "I have a parrot called Molly.",
    ]
    assert [each["event"] for each in rest["history"]] == ["ADD", "UPDATE"]
    assert (rest["deleted"][0], rest["deleted"][1][0]) == ({"message": "All relevant memories deleted"}, 404)
    assert contents(rest["of bob"]) == {"I play the viola on Sundays."}
