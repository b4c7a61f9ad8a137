"""``varve methods``: what the commands print of shipped and own methods."""

from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

from memory.errors import SchemaError
from memory.schema import parse_schema
from memory.schema.methods import method_document, method_names
from retrieval.errors import ProfilesError
from varve.cli.application import app


def invoke(*arguments: str) -> Result:
    result = CliRunner().invoke(app, ["methods", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_all_methods_are_listed() -> None:
    header, *rows = invoke("list").stdout.splitlines()
    assert header == "method\tversion\tevents\tentities\tretrievers\tsource"
    assert tuple(row.split("\t")[0] for row in rows) == method_names()
    assert next(row for row in rows if row.startswith("memgpt")).split("\t")[2:5] == ["turn", "core_memory", "keywords, recent"]


def test_a_shown_document_can_be_a_file(tmp_path: Path) -> None:
    shown = invoke("show", "memgpt").stdout
    assert orjson.loads(shown) == method_document("memgpt")
    path = tmp_path / "own.json"
    path.write_text(shown)
    assert invoke("show", str(path)).stdout == shown
    composed = parse_schema(orjson.loads(invoke("show", str(path), "--schema", "meetings").stdout))
    assert composed.name == "meetings+memgpt"


@pytest.mark.parametrize(
    ("method", "missing"),
    [
        ("memgpt", ["core_memory.human (AGENT): nobody edits the block"]),
        ("memochat", ["segments: ", "retriever topics (VARVE_TOPICS__BASE_URL): "]),
        ("memos", ["memory_tree.facts (TREE): ", "working_memory.current (AGENT): "]),
        ("vikingmem", []),
    ],
)
def test_operators_that_need_a_model_are_shown(method: str, missing: list[str]) -> None:
    lines = invoke("show", method).stderr.splitlines()
    assert [line.startswith(f"Without a model: {each}") for line, each in zip(lines, missing, strict=True)] == [True] * len(missing)


def test_a_mode_of_a_method_needs_its_model(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_bytes(orjson.dumps({"Method": "own", "Retrieve": {"Mode": "expand"}}))
    assert "VARVE_EXPANSION__BASE_URL" in invoke("show", str(path)).stderr


def test_differences_are_printed_with_exit_code_one() -> None:
    same, different = invoke("diff", "memgpt", "memgpt"), invoke("diff", "memgpt", "memochat")
    assert (same.exit_code, same.stdout) == (0, "")
    assert different.exit_code == 1
    assert {'-  "Method": "memgpt",', '+  "Method": "memochat",'} <= set(different.stdout.splitlines())


def test_an_invalid_file_is_rejected_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_bytes(orjson.dumps({"Method": "own", "Retrieve": {"Paths": [{"Path": "links", "Quota": 3, "Hops": 9}]}}))
    with pytest.raises(SchemaError, match=r"Method\.Retrieve\.Paths\[0\]\.Hops.*from 1 to 3.*own\.json"):
        invoke("show", str(path))
    with pytest.raises(SchemaError, match="did you mean 'memgpt'"):
        invoke("show", "memgtp")


def test_an_unknown_ranking_profile_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own.json"
    path.write_bytes(orjson.dumps({"Method": "own", "Retrieve": {"Profile": "house"}}))
    with pytest.raises(ProfilesError, match=r"Method\.Retrieve\.Profile: 'house' .*VARVE_RECALL__PROFILES .*own\.json"):
        invoke("show", str(path))
    profiles = tmp_path / "profiles.json"
    profiles.write_text('{"house": {"base": "memx"}}')
    monkeypatch.setenv("VARVE_RECALL__PROFILES", str(profiles))
    assert invoke("show", str(path)).exit_code == 0


def test_a_path_without_a_file_is_no_name(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"cannot read the method file .*absent\.json"):
        invoke("show", str(tmp_path / "absent.json"))
    with pytest.raises(SchemaError, match=r"cannot read the schema file absent\.json"):
        invoke("show", "memgpt", "--schema", "absent.json")
