"""Export files: arrays, pages, lines and archives are read item by item."""

import json
import random
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.errors import ImportFileError
from varve.imports import json_values
from varve.imports.files import ExportFile

items = st.lists(
    st.dictionaries(
        st.sampled_from(["a", "results"]),
        st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.lists(st.integers())),
    ),
    max_size=4,
)


def written(path: Path, content: str | bytes) -> ExportFile:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return ExportFile(path)


def values(file: ExportFile, *arrays: str) -> list[Any]:
    return [each.value for each in file.items(arrays)]


@given(items)
def test_every_layout_has_the_same_items(tmp_path_factory: pytest.TempPathFactory, found: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("layouts")
    layouts = [json.dumps(found), json.dumps(found, indent=2), json.dumps({"count": 1, "memories": found, "results": 7})]
    layouts += ["\ufeff" + layouts[0], json.dumps({"memories": found}) + "\n"]
    for number, each in enumerate(layouts):
        assert values(written(folder / f"{number}.json", each), "memories") == found
    lines = [{"b": 1}, *found]
    assert values(written(folder / "lines.jsonl", "\n".join(map(json.dumps, lines))), "memories") == lines


def test_an_archive_has_all_conversation_files(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations-001.json", '[{"n": 2}]')
        archive.writestr("conversations-000.json", '[{"n": 1}]')
        archive.writestr("users.json", '[{"n": 3}]')
    assert [(each.value["n"], each.place.rpartition(", ")[0]) for each in ExportFile(path).items()] == [
        (1, f"{path}, conversations-000.json"),
        (2, f"{path}, conversations-001.json"),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'[{"a": 1}, {"a":', "item 2: not JSON"),
        (b"hello", "item 1: not JSON"),
        (b"", "not JSON"),
        (b'{"a": 1}\n{"a"', "not JSON"),
        (b"\xff\xfe[\x00]\x00", "iconv"),
        (b'[{"a": "caf\xe9"}]', "item 1: not in UTF-8: convert the file, for example with `iconv"),
        (b"[" + b"[" * 100_000 + b"]" * 100_000 + b"]", "item 1: "),
        (b"PK\x03\x04rubbish", "damaged or encrypted ZIP archive"),
        (b"[{}, %s]" % (b"7" * 100_000), "item 2: a number is too large"),
        (b"[{}, %s, {}]" % (b"7" * 70_000), "item 2: a number is too large"),
        (b"[{}, 1e%s]" % (b"9" * 30), "item 2: a number is too large"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(ImportFileError, match=reason):
        values(written(tmp_path / "export.json", content))


def test_many_digits_in_a_text_are_read(tmp_path: Path) -> None:
    found = [{"a": 2**62, "b": 0.5}, {"pi": "3" * 100_000}, {"a": 2.5}]
    assert values(written(tmp_path / "export.json", json.dumps(found))) == found
    page = written(tmp_path / "page.json", json.dumps({"count": 5, "results": found}))
    assert (values(page, "results"), page.on_other_pages(("results",), 3)) == (found, 2)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_archives_are_refused(tmp_path: Path, method: int) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("conversations.json", json.dumps([{"a": random.Random(0).randbytes(2000).hex()}]))
    whole = path.read_bytes()
    path.write_bytes(whole[:80] + b"\xff" * 60 + whole[140:])
    for read in (values, lambda file: list(file.lines("conversations.json"))):
        with pytest.raises(ImportFileError, match=r"export\.zip"):
            read(ExportFile(path))


def test_missing_files_and_archives_without_conversations_are_named(tmp_path: Path) -> None:
    with pytest.raises(ImportFileError, match=r"none\.json cannot be read: No such file"):
        values(ExportFile(tmp_path / "none.json"))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("users.json", "[]")
    with pytest.raises(ImportFileError, match=r"no conversations\.json"):
        values(ExportFile(tmp_path / "a.zip"))


@pytest.mark.parametrize("value", ['"%s"' % ("x" * 1_500_000), "[%s0]" % ("0," * 700_000), "1,%s2" % (" " * 1_500_000)])
def test_an_item_larger_than_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr(json_values, "LARGEST_ITEM", 1_000_000)
    small = ",".join(['{"a": "%s"}' % ("x" * 300_000)] * 5)
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", f"[{small},{value}]")
    assert path.stat().st_size < 20_000
    found = ExportFile(path).items()
    assert [next(found).value["a"][:1] for _ in range(5)] == ["x"] * 5
    with pytest.raises(ImportFileError, match=r"item [67]: larger than 1000000 bytes"):
        list(found)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    item = json.dumps({"memory": "x" * 1000})
    path = tmp_path / "large.json"
    with path.open("w") as file:
        file.write('{"results": [')
        file.writelines(f"{item}," for _ in range(20_000))
        file.write(f"{item}]}}")
    tracemalloc.start()
    count = sum(1 for _ in ExportFile(path).items(("results",)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_001
    assert peak < path.stat().st_size / 4
