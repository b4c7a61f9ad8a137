import argparse
import json
import os
from pathlib import Path

import numpy as np
import pytest

from evaluation.errors import DataSetError
from evaluation.segmentation.baselines import even_cuts, text_tiling, text_tiling_on_embeddings
from evaluation.segmentation.command import run
from evaluation.segmentation.dialogues import read_dialogues
from extraction.offline.segmentation import Utterance
from models.embedding.port import Embedding

DATA = Path(os.environ.get("VARVE_TEST_DATA", Path(__file__).parents[3] / "shared" / "data"))

TALK = ["i need a cheap hotel", "which hotel area ?", "any hotel", "what will the weather be", "rain weather", "ok rain"]


@pytest.fixture
def forms(tmp_path: Path) -> dict[str, Path]:
    """The same dialogue, ``TALK`` cut in the middle, in every form."""
    blocks = "\n".join(TALK[:3]) + "\n================\n" + "\n".join(TALK[3:]) + "\n"
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "dialogue_0.txt").write_text(blocks)
    text = tmp_path / "all.txt"
    text.write_text(blocks)
    lengths = tmp_path / "tiage.json"
    lengths.write_text(json.dumps([{"dial_id": 0, "utterances": TALK, "segments": [3, 3], "set": "test"}]))
    labels = tmp_path / "super.json"
    turns = [{"utterance": text, "segmentation_label": int(index == 2)} for index, text in enumerate(TALK)]
    labels.write_text(json.dumps({"dial_data": {"any": [{"dial_id": "0", "turns": turns}]}}))
    return {"folder": folder, "text": text, "lengths": lengths, "labels": labels}


@pytest.mark.parametrize("form", ["folder", "text", "lengths", "labels"])
def test_every_form_gives_the_same_dialogue(form: str, forms: dict[str, Path]) -> None:
    (dialogue,) = read_dialogues(forms[form])

    assert dialogue.utterances == tuple(TALK)
    assert dialogue.lengths == (3, 3)


def test_blank_lines_part_dialogues_in_one_text(tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    path.write_text("a\nb\n=====\nc\n\n\nd\n=====\ne\n=====\n")

    assert [(each.utterances, each.lengths) for each in read_dialogues(path)] == [(("a", "b", "c"), (2, 1)), (("d", "e"), (1, 1))]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("{", "none of the known forms"),
        ("[]", "no dialogue"),
        ('[{"utterances": ["a", "b"], "segments": [1]}]', "do not cover its 2"),
        ('{"a": 1}', "dial_data"),
    ],
)
def test_a_bad_file_is_refused_with_its_fault(content: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)

    with pytest.raises(DataSetError, match=word):
        read_dialogues(path)


def test_the_baselines_find_a_plain_change_of_topic() -> None:
    vectors = np.eye(2, dtype=np.float32)
    utterances = [Utterance(text, Embedding(dense=vectors[index // 3], late=None)) for index, text in enumerate(TALK)]

    assert text_tiling(utterances) == [3]
    assert text_tiling_on_embeddings(utterances) == [3]
    assert even_cuts(utterances, 4) == [4]


def test_the_report_compares_the_segmenter_with_baselines(forms: dict[str, Path]) -> None:
    report = run(argparse.Namespace(data=forms["lengths"]))

    assert 0 <= report["pk"] <= report["window_diff"] <= 1
    assert set(report["baselines"]) == {"text_tiling", "text_tiling_on_embeddings", "even_cuts", "no_boundaries"}
    assert report["baselines"]["even_cuts"] == {"pk": 0.0, "window_diff": 0.0}
    assert report["splits"]["test"]["pk"] == report["pk"]
    assert report["dialogues"] == 1


def test_the_segmenter_reaches_its_goal_on_tiage(tmp_path: Path) -> None:
    data = DATA / "tiage.json"
    if not data.exists():
        pytest.skip(f"needs TIAGE as {data}; set VARVE_TEST_DATA to its folder")
    unseen = [each for each in json.loads(data.read_text()) if each["set"] == "test"]
    path = tmp_path / "unseen.json"
    path.write_text(json.dumps(unseen))

    report = run(argparse.Namespace(data=path))

    assert report["pk"] <= 0.36
    assert report["pk"] < min(each["pk"] for each in report["baselines"].values())
