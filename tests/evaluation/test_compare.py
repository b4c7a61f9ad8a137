"""``python -m evaluation compare`` on a made-up conversation in LoCoMo's form, with the real embedding model and the real store."""

import argparse
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import orjson
import pytest

from evaluation.compare.command import add_arguments, run
from memory.errors import SchemaError
from memory.schema.methods import method_document
from tests.evaluation.conversations import conversation
from tests.evaluation.realmem_files import dialogues, written

pytestmark = pytest.mark.integration


def compared(folder: Path, methods: str, data: Path | None = None) -> dict[str, Any]:
    if data is None:
        data = folder / "conversations.json"
        data.write_bytes(orjson.dumps([conversation("one"), conversation("two")]))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    given = ["--methods", methods, "--kept", str(folder / "kept.jsonl")]
    return run(argparse.Namespace(**vars(parser.parse_args(given)), data=data, report=folder / "report" / "compare.json"))


def test_methods_are_compared_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.json"
    own.write_bytes(orjson.dumps({**method_document("memgpt"), "Method": "own"}))
    report = compared(tmp_path, f"vikingmem,{own}")
    assert capsys.readouterr().err.splitlines()[0] == "2 methods, LoCoMo: 2 conversations, 4 questions; 1 data sets"
    plain, archived = report["methods"]["vikingmem"], report["methods"]["own"]
    assert {each["overall"]["questions"] for each in (plain, archived)} == {4}
    assert archived["overall"]["recall_at_10"] == 1.0
    assert archived["memories_by_type"]["event turn"] == 8, "each message of both conversations is archived"
    assert "event turn" not in plain["memories_by_type"]
    assert archived["record_bytes"] > plain["record_bytes"] > 0
    assert set(archived["categories"]) == {"single-hop"}
    assert archived["ingestion"]["model_seconds"] == 0, "no model is asked"
    assert archived["ingestion"]["model_tokens"] > plain["ingestion"]["model_tokens"] > 0, "the text about the user is merged, too"
    assert 0 < archived["query"]["packed_tokens"] <= report["budget"]

    text = (tmp_path / "report" / "compare.md").read_text()
    assert text == report["markdown"]
    assert "| own | 1.000 |" in text
    points = ElementTree.parse(tmp_path / "report" / "compare-quality.svg").getroot().findall("{http://www.w3.org/2000/svg}circle")
    assert len(points) == 2

    with (tmp_path / "kept.jsonl").open("ab") as file:
        file.write(b'{"key": "cut off by a k')
    again = compared(tmp_path, f"vikingmem,{own}")
    assert "measuring" not in capsys.readouterr().err
    assert again["methods"] == report["methods"]


def test_a_changed_document_is_measured_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.json"
    for document in ({"Method": "own", "Archive": {"Turns": True}}, {"Method": "own", "Extract": {"Segments": True}}):
        own.write_bytes(orjson.dumps(document))
        types = compared(tmp_path, str(own))["methods"]["own"]["memories_by_type"]
        assert "measuring own" in capsys.readouterr().err
    assert "event segment" in types
    assert "event turn" not in types


def test_an_unknown_method_is_refused_before_work(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="there is no memory method 'magic'"):
        compared(tmp_path, "vikingmem,magic")


def test_realmem_is_asked_before_each_session(tmp_path: Path) -> None:
    folder = tmp_path / "realmem"
    folder.mkdir()
    written(folder, dialogues())
    report = compared(tmp_path, "memgpt", data=folder)
    found = report["methods"]["memgpt"]
    assert (report["questions"], found["overall"]["questions"]) == (2, 2)
    assert set(found["categories"]) == {"Dynamic Incremental", "Implicit Preference"}
    assert found["overall"]["recall_at_10"] == 1.0, "the turns of the earlier sessions are archived"
    assert found["memories_by_type"]["event turn"] == 8, "those of the last session are added after its questions"
